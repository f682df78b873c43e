//! Archives that other tools wrote, read in place.

use std::path::{Path, PathBuf};

use mattock_env::Files;
use mattock_repository::{RepositoryError, WarcReader};

fn samples() -> Option<PathBuf> {
    let path = match std::env::var_os("MATTOCK_WARC_SAMPLES") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/warc"),
    };
    Files::real().entry(&path).ok().flatten().map(|_| path)
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped() {
    eprintln!("skipped: no WARC samples; name their directory in MATTOCK_WARC_SAMPLES");
}

/// Well-formed files and the records in them, as warcio and FastWARC agree.
const COUNTS: [(&str, usize); 30] = [
    ("cc-whirlwind/whirlwind.warc", 4),
    ("cc-whirlwind/whirlwind.warc.gz", 4),
    ("cc-whirlwind/whirlwind.warc.wat", 2),
    ("cc-whirlwind/whirlwind.warc.wat.gz", 2),
    ("cc-whirlwind/whirlwind.warc.wet", 2),
    ("cc-whirlwind/whirlwind.warc.wet.gz", 2),
    ("fastwarc/block-sized-records.warc", 3),
    ("fastwarc/block-sized-records.warc.gz", 3),
    ("fastwarc/warcfile.warc", 50),
    ("fastwarc/warcfile.warc.gz", 50),
    ("ia-warc/test_data/crlf_at_1k_boundary.warc.gz", 1),
    ("jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz", 1),
    ("jwarc/test-resources/org/netpreserve/jwarc/gzip_extra_sl.warc.gz", 1),
    ("jwat/jwat-warc/src/test/resources/valid-warcfile-contenttype-continuation.warc", 1),
    ("jwat/jwat-warc/src/test/resources/valid-warcfile-duplicate-concurrentto.warc", 1),
    ("jwat/jwat-warc/src/test/resources/valid-warcfile-fields-continuation.warc", 1),
    ("jwat/jwat-warc/src/test/resources/valid-warcfile-non-warc-headers.warc", 1),
    ("stormcrawler/test.warc.gz", 42),
    ("warc-specifications/primers/web-archive-formats/hello-world.warc", 6),
    ("warc-specifications/primers/web-archive-formats/hello-world.warc.gz", 6),
    ("warc-specifications/specifications/warc-deduplication/samples/20130729-heritrix-original.warc.gz", 1),
    (
        "warc-specifications/specifications/warc-deduplication/samples/20130729-heritrix-revisit-with-http-headers.warc.gz",
        1,
    ),
    (
        "warc-specifications/specifications/warc-deduplication/samples/20141124-heritrix-server-not-modified.warc.gz",
        1,
    ),
    ("warc-specifications/specifications/warc-deduplication/samples/20141129-heritrix-original.warc.gz", 1),
    (
        "warc-specifications/specifications/warc-deduplication/samples/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz",
        1,
    ),
    ("warcio/example-digest.warc", 4),
    ("warcio/example-resource.warc.gz", 3),
    ("warcio/example-space-in-target-uri.warc.gz", 2),
    ("warcio/example.warc", 6),
    ("fastwarc/clueweb-quirk.warc.gz", 30),
];

/// Records up to the end or the error that ends the reading.
fn count(path: &Path) -> (usize, Vec<RepositoryError>) {
    let mut reader = WarcReader::open(&Files::real(), path).unwrap();
    let (mut records, mut errors) = (0, Vec::new());
    loop {
        match reader.next_record() {
            Ok(Some(record)) => {
                assert!(
                    record.fields.get("WARC-Type").is_some() || path.to_string_lossy().contains("invalid")
                );
                records += 1;
            }
            Ok(None) => return (records, errors),
            Err(error) => errors.push(error),
        }
    }
}

#[test]
fn well_formed_samples_give_as_many_records_as_other_readers_find() {
    let Some(samples) = samples() else { return skipped() };
    for (name, expected) in COUNTS {
        let path = samples.join(name);
        if Files::real().entry(&path).unwrap().is_none() {
            continue;
        }
        let (records, errors) = count(&path);
        assert_eq!((records, errors.len()), (expected, 0), "{name}: {errors:?}");
    }
}

#[test]
fn a_clipped_sample_is_reported_as_torn() {
    let Some(samples) = samples() else { return skipped() };
    let path = samples.join("fastwarc/clipped.warc.gz");
    if Files::real().entry(&path).unwrap().is_none() {
        return skipped();
    }
    let (records, errors) = count(&path);
    assert!(
        matches!(&errors[..], [RepositoryError::Torn { offset: 0, .. }]),
        "{records} records, {errors:?}"
    );
}

#[test]
fn every_sample_is_read_to_an_end_or_an_error() {
    let Some(samples) = samples() else { return skipped() };
    let mut folders = vec![samples];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in Files::real().list(&folder).unwrap() {
            let path = folder.join(entry.name);
            if entry.is_dir {
                folders.push(path);
            } else {
                count(&path);
                read += 1;
            }
        }
    }
    assert!(read > 0);
}
