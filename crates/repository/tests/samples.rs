//! Archives that other tools wrote, read in place: every sample is read, or refused with a reason and the place.

use std::path::{Path, PathBuf};

use mattock_env::Files;
use mattock_repository::{RecordFetcher, RepositoryError, WarcReader};

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

/// What each file gives to who goes on behind damage: the records, and where those begin that could not be read.
type Expected = (&'static str, usize, &'static [u64]);

const EXPECTED: [(&str, &[Expected]); 12] = [
    (
        "cc-whirlwind",
        &[
            ("CC-MAIN-2024-22.warc.paths.gz", 0, &[0]),
            ("whirlwind.warc", 4, &[]),
            ("whirlwind.warc.gz", 4, &[]),
            ("whirlwind.warc.wat", 2, &[]),
            ("whirlwind.warc.wat.gz", 2, &[]),
            ("whirlwind.warc.wet", 2, &[]),
            ("whirlwind.warc.wet.gz", 2, &[]),
        ],
    ),
    (
        "fastwarc",
        &[
            ("block-sized-records.warc", 3, &[]),
            ("block-sized-records.warc.gz", 3, &[]),
            ("block-sized-records.warc.lz4", 0, &[0]),
            ("clipped.warc.gz", 0, &[0]),
            ("clueweb-quirk.warc.gz", 30, &[]),
            ("warcfile.warc", 50, &[]),
            ("warcfile.warc.gz", 50, &[]),
            ("warcfile.warc.lz4", 0, &[0]),
        ],
    ),
    ("ia-warc/test_data", &[("alexa_short_header.arc.gz", 2, &[]), ("crlf_at_1k_boundary.warc.gz", 1, &[])]),
    (
        "jwarc/test-resources/org/netpreserve/jwarc",
        &[("cc.warc.gz", 1, &[]), ("gzip_extra_sl.warc.gz", 1, &[])],
    ),
    (
        "jwat/jwat-arc/src/test/resources",
        &[
            ("1-1-20110922131213-00000-svc-VirtualBox.arc", 102, &[]),
            ("invalid-arcfile-record-then-garbage.arc", 1, &[2329]),
            ("small_BNF.arc", 6, &[]),
            ("test-arc-1.0-dashed-fields.arc", 1, &[102]),
            ("test-arc-1.0-invalid-fields.arc", 0, &[0]),
        ],
    ),
    ("jwat/jwat-common/src/test/resources", &[("test-utf8.warc", 1, &[])]),
    (
        "jwat/jwat-gzip/src/test/resources",
        &[
            ("invalid-compression.gz", 0, &[0]),
            ("invalid-entries.gz", 0, &[0, 975]),
            ("invalid-magic.gz", 0, &[0]),
            ("invalid-truncated.gz", 0, &[0]),
            ("sample.txt.gz", 0, &[0]),
            ("three-files.gz", 0, &[0, 975, 1131]),
        ],
    ),
    (
        "jwat/jwat-warc/src/test/resources",
        &[
            ("invalid-warcfile-contenttype-recommended.warc", 7, &[]),
            ("invalid-warcfile-contenttype-warcinfo-recommended.warc", 1, &[]),
            ("invalid-warcfile-digest-fields.warc", 4, &[]),
            ("invalid-warcfile-duplicate-fields.warc", 1, &[]),
            ("invalid-warcfile-encoding-headers.warc.gz", 4, &[]),
            ("invalid-warcfile-fields-empty.warc", 0, &[0]),
            ("invalid-warcfile-fields-invalidformat.warc", 0, &[0]),
            ("invalid-warcfile-fields-missing.warc", 0, &[0]),
            ("invalid-warcfile-lonely-continuation.warc", 0, &[0]),
            ("invalid-warcfile-lonely-monkeys.warc", 0, &[0]),
            ("invalid-warcfile-lonely-request-response-resource-conversion.warc", 0, &[0]),
            ("invalid-warcfile-lonely-revisit.warc", 0, &[0]),
            ("invalid-warcfile-lonely-warcinfo-metadata.warc", 0, &[0]),
            ("invalid-warcfile-record-then-garbage.warc", 1, &[1135]),
            ("invalid-warcfile-segment-number-continuation.warc", 2, &[]),
            ("invalid-warcfile-segment-number-response.warc", 2, &[]),
            ("valid-warcfile-contenttype-continuation.warc", 1, &[]),
            ("valid-warcfile-duplicate-concurrentto.warc", 1, &[]),
            ("valid-warcfile-fields-continuation.warc", 1, &[]),
            ("valid-warcfile-fields-metainfo.warc", 1, &[]),
            ("valid-warcfile-fields-warcinfo.warc", 1, &[]),
            ("valid-warcfile-non-warc-headers.warc", 1, &[]),
            ("valid-warcfile-upper-lower-case.warc", 5, &[]),
        ],
    ),
    (
        "stormcrawler",
        &[("test.warc.gz", 42, &[]), ("unparsable-date.warc.gz", 3, &[]), ("warc.inputs", 0, &[0])],
    ),
    (
        "warc-specifications/primers/web-archive-formats",
        &[
            ("hello-world.txt", 0, &[0]),
            ("hello-world.warc", 6, &[]),
            ("hello-world.warc.cdx", 0, &[0]),
            ("hello-world.warc.gz", 6, &[]),
        ],
    ),
    (
        "warc-specifications/specifications/warc-deduplication/samples",
        &[
            ("20130729-heritrix-original.warc.gz", 1, &[]),
            ("20130729-heritrix-revisit-with-http-headers.warc.gz", 1, &[]),
            ("20141124-heritrix-server-not-modified.warc.gz", 1, &[]),
            ("20141129-heritrix-original.warc.gz", 1, &[]),
            ("20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz", 1, &[]),
        ],
    ),
    (
        "warcio",
        &[
            ("example-bad-non-chunked.warc.gz", 6, &[]),
            ("example-digest.warc", 4, &[]),
            ("example-resource.warc.gz", 3, &[]),
            ("example-space-in-target-uri.warc.gz", 2, &[]),
            ("example-space-in-url.arc", 1, &[151]),
            ("example-trunc.warc", 3, &[1197]),
            ("example-wrong-chunks.warc.gz", 1, &[0, 516]),
            ("example.warc", 6, &[]),
        ],
    ),
];

fn offset(error: &RepositoryError) -> u64 {
    match error {
        RepositoryError::Torn { offset, .. }
        | RepositoryError::Damaged { offset, .. }
        | RepositoryError::Unreadable { offset, .. }
        | RepositoryError::NotWarc { offset, .. } => *offset,
        other => panic!("{other}"),
    }
}

/// Records, and the places of those that could not be read.
fn read_all(mut reader: WarcReader) -> (usize, Vec<u64>) {
    let (mut records, mut errors) = (0, Vec::new());
    loop {
        match reader.next_record() {
            Ok(Some(_)) => records += 1,
            Ok(None) => return (records, errors),
            Err(error) => errors.push(offset(&error)),
        }
    }
}

#[test]
fn every_sample_is_read_or_refused_with_its_place() {
    let Some(samples) = samples() else { return skipped() };
    let files = Files::real();
    let mut found = 0;
    for (folder, expected) in EXPECTED {
        for (name, records, errors) in expected {
            let path = samples.join(folder).join(name);
            if files.entry(&path).unwrap().is_none() {
                continue;
            }
            found += 1;
            let open = || WarcReader::open(&files, &path).unwrap();
            assert_eq!(read_all(open().go_on_behind_damage()), (*records, errors.to_vec()), "{name}");
            // Who does not go on sees the same up to the first damage.
            let (strict, strict_errors) = read_all(open());
            assert!(strict <= *records, "{name}");
            assert_eq!(strict_errors.first(), errors.first(), "{name}");
            assert!(!errors.is_empty() || strict == *records, "{name}");
        }
    }
    assert!(found > 0, "an empty directory of samples");
}

#[test]
fn no_sample_is_forgotten() {
    let Some(samples) = samples() else { return skipped() };
    let mut folders = vec![samples.clone()];
    while let Some(folder) = folders.pop() {
        for entry in Files::real().list(&folder).unwrap() {
            let path = folder.join(&entry.name);
            if entry.is_dir {
                folders.push(path);
            } else if entry.name.contains("arc") {
                let known = |(folder, files): &(&str, &[Expected])| {
                    files.iter().any(|(name, ..)| samples.join(folder).join(name) == path)
                };
                // Others may have more samples than these: they must be read to an end.
                if !EXPECTED.iter().any(known) {
                    read_all(WarcReader::open(&Files::real(), &path).unwrap().go_on_behind_damage());
                }
            }
        }
    }
}

/// Every record of a sample that has a place of its own is the same when it is fetched from there.
#[test]
fn samples_are_read_by_place() {
    let Some(samples) = samples() else { return skipped() };
    let files = Files::real();
    let mut fetcher = RecordFetcher::new(&files);
    for (folder, expected) in EXPECTED {
        for (name, ..) in expected.iter().filter(|(_, records, _)| *records > 0) {
            let path = samples.join(folder).join(name);
            if files.entry(&path).unwrap().is_none() {
                continue;
            }
            let mut reader = WarcReader::open(&files, &path).unwrap().go_on_behind_damage();
            loop {
                let record = match reader.next_record() {
                    Ok(Some(record)) => record,
                    Ok(None) => break,
                    Err(_) => continue,
                };
                if let Some(length) = record.length {
                    let fetched = fetcher.fetch(&path, record.offset, length).unwrap();
                    assert!(fetched.block == record.block, "{name} at {}", record.offset);
                    assert!(fetched.fields.iter().eq(record.fields.iter()), "{name} at {}", record.offset);
                }
            }
        }
    }
}
