//! Archives in the forms that other programs give them.

use std::io::Write as _;

use mattock_env::Random;
use mattock_repository::{Compression, RecordFetcher, RecordType, RepositoryError, WarcReader};

use crate::common::*;

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page</p>";

fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// Of either version of ARC: the file's own description, a page, one with a blank in its URL, a name looked up.
fn arc(version: u8) -> Vec<Vec<u8>> {
    let columns = match version {
        1 => "URL IP-address Archive-date Content-type Archive-length\n",
        _ => {
            "URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n"
        }
    };
    let description = format!("{version} 0 Alexa Internet\n{columns}\n");
    let records = [
        ("filedesc://a.arc 0.0.0.0 20020103040506 text/plain", &description[..]),
        ("http://example.org/ 192.0.2.1 20020103040507 text/html", RESPONSE),
        ("http://example.org/a b 192.0.2.1 20020103040508 text/html", RESPONSE),
        (
            "dns:example.org 192.0.2.53 20020103040509 text/dns",
            "20020103040509\nexample.org. 600 IN A 192.0.2.1\n",
        ),
    ];
    let middle = if version == 1 { "" } else { " 200 - - 1234 a.arc" };
    records
        .iter()
        .map(|(line, block)| format!("{line}{middle} {}\n{block}\n", block.len()).into_bytes())
        .collect()
}

/// What a reader that goes on behind damage finds, and where the damage is.
fn read_on(bytes: &[u8], name: &str) -> (Vec<Found>, Vec<RepositoryError>) {
    let files = files();
    let path = directory().join(name);
    put(&files, &path, bytes);
    let mut reader = WarcReader::open(&files, &path).unwrap().go_on_behind_damage();
    let (mut records, mut errors) = (Vec::new(), Vec::new());
    loop {
        match reader.next_record() {
            Ok(Some(record)) => records.push(Found {
                offset: record.offset,
                length: record.length,
                fields: record.fields.iter().map(|(name, value)| (name.into(), value.into())).collect(),
                block: record.block.to_vec(),
            }),
            Ok(None) => return (records, errors),
            Err(error) => errors.push(error),
        }
    }
}

#[test]
fn arc_files_are_read_in_every_form() {
    for version in [1, 2] {
        let records = arc(version);
        let plain = records.concat();
        let members: Vec<u8> = records.iter().flat_map(|record| gzip(record)).collect();
        for (form, bytes) in [("plain", plain.clone()), ("members", members), ("one member", gzip(&plain))] {
            let files = files();
            let path = directory().join("x.arc");
            put(&files, &path, &bytes);
            let (found, error) = read(&files, &path);
            assert!(error.is_none(), "version {version}, {form}: {error:?}");
            let uris: Vec<_> = found.iter().map(|record| record.get("WARC-Target-URI")).collect();
            let expected =
                [None, Some("http://example.org/"), Some("http://example.org/a b"), Some("dns:example.org")];
            assert_eq!(uris, expected, "version {version}, {form}");
            let kinds: Vec<_> = found.iter().filter_map(|record| record.get("WARC-Type")).collect();
            assert_eq!(kinds, ["warcinfo", "response", "response", "resource"]);
            assert_eq!(found[2].get("WARC-Date"), Some("2002-01-03T04:05:08Z"));
            assert_eq!(found[3].get("Content-Type"), Some("text/dns"));
            assert_eq!(found[1].block, RESPONSE.as_bytes());
            if form != "one member" {
                assert_eq!(found.iter().filter_map(|record| record.length).sum::<u64>(), bytes.len() as u64);
                let mut fetcher = RecordFetcher::new(&files);
                let fetched = fetcher.fetch(&path, found[2].offset, found[2].length.unwrap()).unwrap();
                assert_eq!((fetched.version, fetched.kind()), ("ARC", Some(RecordType::Response)));
                assert_eq!(fetched.response().unwrap().body, b"<p>a page</p>");
            }
        }
    }
}

#[test]
fn drafts_and_loose_ends_are_read() {
    let record = |version: &str, end: &str| {
        format!("{version}WARC-Type: response\nContent-Length: {}\n\n{RESPONSE}{end}", RESPONSE.len())
    };
    for version in ["WARC/0.17\r\n", "WARC/0.18\n", "WARC/1.0\r\n", "WARC/1.1\r\n", "warc/1.0\r\n"] {
        // One, two or no line ends, and more than there should be.
        for end in ["\r\n\r\n", "\n\n", "\n", "\r\n", "", "\r\n\r\n\r\n\r\n"] {
            let bytes = record(version, end).repeat(3);
            let (found, errors) = read_on(bytes.as_bytes(), "x.warc");
            assert_eq!((found.len(), errors.len()), (3, 0), "{version:?} {end:?} {errors:?}");
            assert!(found.iter().all(|found| found.block == RESPONSE.as_bytes()));
            let (files, path) = (files(), directory().join("y.warc"));
            put(&files, &path, bytes.as_bytes());
            let mut fetcher = RecordFetcher::new(&files);
            for record in found.iter().rev() {
                for length in [record.length.unwrap(), 0] {
                    let fetched = fetcher.fetch(&path, record.offset, length);
                    assert_eq!(fetched.unwrap().block, RESPONSE.as_bytes(), "{version:?} {end:?}");
                }
            }
            let (found, errors) = read_on(&gzip(bytes.as_bytes()), "x.warc.gz");
            assert_eq!((found.len(), errors.len()), (3, 0), "{version:?} {end:?} {errors:?}");
        }
    }
}

/// The records of a file in some form, one after the other, as bytes.
fn forms() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let files = files();
    let (path, bytes) = small_archive(&files, Compression::default());
    let split = |bytes: &[u8], found: &[Found]| -> Vec<Vec<u8>> {
        let end = |record: &Found| (record.offset + record.length.unwrap()) as usize;
        found.iter().map(|record| bytes[record.offset as usize..end(record)].to_vec()).collect()
    };
    let plain_bytes = decompressed(&files, &path);
    let plain = directory().join("plain.warc");
    put(&files, &plain, &plain_bytes);
    let (zstd, zstd_bytes) = small_archive(&crate::common::files(), Compression::Zstd(1));
    let zstd_files = crate::common::files();
    put(&zstd_files, &zstd, &zstd_bytes);
    vec![
        ("x.warc.gz", split(&bytes, &read(&files, &path).0)),
        ("x.warc", split(&plain_bytes, &read(&files, &plain).0)),
        ("x.warc.zst", split(&zstd_bytes, &read(&zstd_files, &zstd).0)),
        ("x.arc", arc(1)),
        ("x.arc.gz", arc(2).iter().map(|record| gzip(record)).collect()),
    ]
}

#[test]
fn a_damaged_record_costs_itself_and_is_reported() {
    for (name, records) in forms() {
        let whole = read_on(&records.concat(), name).0;
        assert_eq!(whole.len(), records.len(), "{name}");
        for broken in 0..records.len() {
            let mut half = records[broken][..records[broken].len() / 2].to_vec();
            if name == "x.arc" {
                // Nothing but the line end before it tells where an ARC record begins.
                half.push(b'\n');
            }
            let mut cases = vec![("half of it", half)];
            if broken > 0 {
                // What a file is made of shows in its first bytes.
                cases.push(("zeros", vec![0; records[broken].len()]));
                cases.push(("other bytes", b"no record at all, only text\n".repeat(9)));
            }
            for (what, bytes) in cases {
                let mut all = records.clone();
                all[broken] = bytes;
                let (found, errors) = read_on(&all.concat(), name);
                let blocks: Vec<_> = found.iter().map(|record| &record.block).collect();
                let expected: Vec<_> = whole
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| *at != broken)
                    .map(|(_, record)| &record.block)
                    .collect();
                assert_eq!(blocks, expected, "{name}: {what} of record {broken}");
                assert_eq!(errors.len(), 1, "{name}: {what} of record {broken}: {errors:?}");
                let offset = whole[broken].offset;
                let at = match &errors[0] {
                    RepositoryError::Torn { offset, .. }
                    | RepositoryError::Damaged { offset, .. }
                    | RepositoryError::Unreadable { offset, .. }
                    | RepositoryError::NotWarc { offset, .. } => *offset,
                    other => panic!("{other}"),
                };
                assert_eq!(at, offset, "{name}: {what} of record {broken}");
            }
        }
    }
}

#[test]
fn records_with_wrong_digests_in_one_large_member_are_read_as_far_as_they_are_asked_for() {
    const RECORDS: usize = 2000;
    let mut random = Random::from_seed(5);
    let mut plain = Vec::new();
    for number in 0..RECORDS {
        plain.extend_from_slice(
            format!(
                "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://example.org/{number}\r\n\
                 WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Record-ID: <urn:x:{number}>\r\n\
                 WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nContent-Length: 8192\r\n\r\n"
            )
            .as_bytes(),
        );
        // It does not become shorter: how far the file was read tells how much was unpacked.
        plain.extend((0..1024).flat_map(|_| random.next_u64().to_le_bytes()));
        plain.extend_from_slice(b"\r\n\r\n");
    }
    let (files, path) = (files(), directory().join("wrong.warc.gz"));
    put(&files, &path, &gzip(&plain));
    let mut reader = WarcReader::open(&files, &path).unwrap();
    let mut count = 0;
    while reader.next_record().unwrap().is_some() {
        count += 1;
        if count == 60 {
            // Some megabytes are read before it is known that the member is a large one.
            assert!(reader.bytes_read() < 6 << 20, "{} bytes are in memory", reader.bytes_read());
        }
    }
    assert_eq!(count, RECORDS);
}

/// A ZIP file of members that are stored: name and bytes. With `far` its numbers are where those of large files are.
fn zip(members: &[(&str, &[u8])], far: bool) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    let short = |number: usize| (number as u16).to_le_bytes();
    let long = |number: usize| (number as u32).to_le_bytes();
    for (name, bytes) in members {
        let head = out.len();
        let sizes = [long(0), long(bytes.len()), long(bytes.len())].concat();
        out.extend(
            [&b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0"[..], &sizes, &short(name.len()), &short(4)].concat(),
        );
        out.extend([name.as_bytes(), &[9, 9, 0, 0], bytes].concat());
        let extra = match far {
            true => {
                let wide = [bytes.len(), bytes.len(), head].map(|number| (number as u64).to_le_bytes());
                [&short(1)[..], &short(24), &wide.concat()].concat()
            }
            false => Vec::new(),
        };
        let (sizes, head) = match far {
            true => ([[0; 4], [255; 4], [255; 4]].concat(), [255; 4]),
            false => (sizes, long(head)),
        };
        list.extend([&b"PK\x01\x02\x0a\0\x0a\0\0\0\0\0\0\0\0\0"[..], &sizes, &short(name.len())].concat());
        list.extend([&short(extra.len())[..], &[0; 10], &head, name.as_bytes(), &extra].concat());
    }
    let (begin, end) = (out.len(), out.len() + list.len());
    out.extend(&list);
    let mut place = [long(list.len()), long(begin)].concat();
    if far {
        let wide = [list.len() as u64, begin as u64].map(u64::to_le_bytes).concat();
        out.extend([&b"PK\x06\x06"[..], &[0; 36], &wide].concat());
        out.extend([&b"PK\x06\x07\0\0\0\0"[..], &(end as u64).to_le_bytes(), &[0; 4]].concat());
        place = vec![255; 8];
    }
    let count = short(members.len());
    out.extend([&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &place, &short(3), b"end"].concat());
    out
}

#[test]
fn archives_in_a_wacz_are_read_and_have_places_in_it() {
    for far in [false, true] {
        let record = |url: &str| {
            format!(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {}\r\n\r\n{RESPONSE}\r\n\r\n",
                RESPONSE.len()
            )
        };
        let packed: Vec<u8> = ["http://a.org/1", "http://a.org/2"]
            .iter()
            .flat_map(|url| gzip(record(url).as_bytes()))
            .collect();
        let plain = ["http://a.org/3", "http://a.org/4"].map(record).concat();
        let mut damaged = packed.clone();
        damaged[40] ^= 1;
        let members: [(&str, &[u8]); 6] = [
            ("datapackage.json", b"{}"),
            ("archive/one.warc.gz", &packed),
            ("archive/damaged.warc.gz", &damaged),
            ("archive/empty.warc.gz", b""),
            ("archive/two.warc", plain.as_bytes()),
            ("pages/pages.jsonl", packed.as_slice()),
        ];
        let bytes = zip(&members, far);
        let (found, errors) = read_on(&bytes, "x.wacz");
        let urls: Vec<_> = found.iter().map(|record| record.get("WARC-Target-URI").unwrap()).collect();
        assert_eq!(urls, [1, 2, 2, 3, 4].map(|number| format!("http://a.org/{number}")), "{errors:?}");
        assert_eq!(errors.len(), 1, "{errors:?}");
        let (files, path) = (files(), directory().join("y.wacz"));
        put(&files, &path, &bytes);
        for record in &found {
            let mut fetcher = RecordFetcher::new(&files);
            let fetched = fetcher.fetch(&path, record.offset, record.length.unwrap()).unwrap();
            assert_eq!(fetched.target_uri(), record.get("WARC-Target-URI"));
        }
        // Of a list that is cut off, or leads nowhere, nothing is believed.
        for end in 0..bytes.len() {
            let (found, errors) = read_on(&bytes[..end], "x.wacz");
            assert!(found.len() <= 5 && (end == 0 || !errors.is_empty() || found.is_empty()), "{end}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x55;
            assert!(read_on(&changed, "x.wacz").0.len() <= 7);
        }
    }
}
