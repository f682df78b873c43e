//! What is written is what is read.

use mattock_env::UnixTime;
use mattock_repository::{Compression, DatePrecision, Digest, Page, Truncated, WarcReader, WriterOptions};
use proptest::prelude::*;

use crate::common::*;

#[derive(Clone, Debug)]
struct Input {
    url: String,
    ipv6: bool,
    micros: i64,
    request: Vec<u8>,
    fields: Vec<(String, String)>,
    body: Vec<u8>,
    truncated: Option<Truncated>,
    metadata: Vec<String>,
}

fn input() -> impl Strategy<Value = Input> {
    let truncated = prop_oneof![
        Just(None),
        Just(Some(Truncated::Length)),
        Just(Some(Truncated::Time)),
        Just(Some(Truncated::Disconnect))
    ];
    let body = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..300),
        4 => (any::<u8>(), 0..200_000_usize).prop_map(|(byte, len)| vec![byte; len]),
        4 => Just(b"WARC/1.1\r\nContent-Length: 0\r\n\r\n\r\n\r\n".to_vec()),
        // Too large to be copied before it is compressed.
        1 => (1_000_000..2_000_000_usize).prop_map(|len| (0..len).map(|at| ((at * at) >> 7) as u8).collect()),
    ];
    (
        ("https?://[a-z]{1,10}\\.example/[!-~]{0,40}", any::<bool>(), 0..4_000_000_000_000_000_i64),
        prop::collection::vec(any::<u8>(), 0..50),
        prop::collection::vec(("X-[A-Za-z0-9-]{1,12}", "[ -~]{0,30}"), 0..5),
        body,
        truncated,
        prop::collection::vec("[!-~]([ -~]{0,20}[!-~])?", 0..3),
    )
        .prop_map(|((url, ipv6, micros), request, fields, body, truncated, metadata)| Input {
            url,
            ipv6,
            micros,
            request,
            fields,
            body,
            truncated,
            metadata,
        })
}

fn compression() -> impl Strategy<Value = Compression> {
    prop_oneof![(1..=12).prop_map(Compression::Gzip), (1..=19).prop_map(Compression::Zstd)]
}

fn write(inputs: &[Input], options: WriterOptions) -> mattock_env::Files {
    let files = files();
    let mut writer = writer(&files, options);
    for input in inputs {
        let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
        for (name, value) in &input.fields {
            head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        head.extend_from_slice(b"\r\n");
        let metadata: Vec<_> = input.metadata.iter().map(|value| ("via", value.clone())).collect();
        let page = Page {
            url: &input.url,
            ip: Some(if input.ipv6 { "2001:db8::7" } else { "192.0.2.7" }.parse().unwrap()),
            date: UnixTime::from_micros(input.micros),
            request: &input.request,
            response_head: &head,
            body: &input.body,
            truncated: input.truncated,
            security: None,
            metadata: &metadata,
        };
        let written = writer.write_page(&page).unwrap();
        assert_eq!(written.payload_digest, Digest::of(&[&input.body]));

        // The place leads to the response, once it is on disk.
        writer.flush().unwrap();
        let path = directory().join(&*written.place.file);
        let mut reader = WarcReader::open_at(&files, &path, written.place.offset).unwrap();
        let record = reader.next_record().unwrap().unwrap();
        assert_eq!(record.length, Some(written.place.length));
        assert_eq!(record.target_uri(), Some(input.url.as_str()));
        assert_eq!(record.fields.get("WARC-Record-ID"), Some(written.record_id.to_string().as_str()));
        assert!(record.block.starts_with(&head) && record.block[head.len()..] == input.body);
    }
    writer.finish().unwrap();
    files
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn pages_come_back_exactly(inputs in prop::collection::vec(input(), 1..6), compression in compression(), small in any::<bool>()) {
        let options = WriterOptions {
            compression,
            buffer_bytes: if small { 100 } else { 1 << 20 },
            file_bytes_max: if small { 3000 } else { 1_000_000_000 },
            ..options()
        };
        let files = write(&inputs, options);
        let mut records = Vec::new();
        for path in archive(&files) {
            let (found, error) = read(&files, &path);
            prop_assert!(error.is_none(), "{:?}", error);
            // Members lie end to end.
            for pair in found.windows(2) {
                prop_assert_eq!(pair[0].offset + pair[0].length.unwrap(), pair[1].offset);
            }
            records.extend(found);
        }
        for record in &records {
            let digest = Digest::of(&[&record.block]).to_string();
            prop_assert_eq!(record.get("WARC-Block-Digest"), Some(digest.as_str()));
        }
        let mut records = records.into_iter().filter(|record| record.get("WARC-Type") != Some("warcinfo"));
        for input in &inputs {
            let date = format!("{:.6}", UnixTime::from_micros(input.micros));
            let request = if input.request.is_empty() { None } else { records.next() };
            let response = records.next().unwrap();
            let metadata = if input.metadata.is_empty() { None } else { records.next() };
            prop_assert_eq!(response.get("WARC-Type"), Some("response"));
            prop_assert_eq!(response.get("WARC-Target-URI"), Some(input.url.as_str()));
            prop_assert_eq!(response.get("WARC-IP-Address"), Some(if input.ipv6 { "2001:db8::7" } else { "192.0.2.7" }));
            prop_assert_eq!(response.get("WARC-Date"), Some(date.as_str()));
            prop_assert_eq!(response.get("WARC-Truncated"), input.truncated.map(Truncated::as_str));
            prop_assert!(response.block.ends_with(&input.body));
            if let Some(request) = request {
                prop_assert_eq!(request.get("WARC-Type"), Some("request"));
                prop_assert_eq!(request.get("WARC-Concurrent-To"), response.get("WARC-Record-ID"));
                prop_assert_eq!(request.get("WARC-Date"), Some(date.as_str()));
                prop_assert_eq!(&request.block, &input.request);
            }
            if let Some(metadata) = metadata {
                let block: String = input.metadata.iter().map(|value| format!("via: {value}\r\n")).collect();
                prop_assert_eq!(metadata.get("WARC-Type"), Some("metadata"));
                prop_assert_eq!(metadata.get("WARC-Concurrent-To"), response.get("WARC-Record-ID"));
                prop_assert_eq!(metadata.block, block.into_bytes());
            }
        }
        prop_assert!(records.next().is_none());
    }

    #[test]
    fn the_same_pages_give_the_same_bytes(
        inputs in prop::collection::vec(input(), 1..4),
        compression in prop::sample::select(&COMPRESSIONS[..]),
    ) {
        let bytes = || {
            let files = write(&inputs, WriterOptions { compression, ..options() });
            archive(&files).iter().map(|path| (path.clone(), files.read(path).unwrap())).collect::<Vec<_>>()
        };
        prop_assert_eq!(bytes(), bytes());
    }
}

#[test]
fn a_page_larger_than_the_buffer_is_written_like_any_other() {
    let files = files();
    let mut writer = writer(
        &files,
        WriterOptions { buffer_bytes: 1000, date_precision: DatePrecision::Seconds, ..options() },
    );
    let body: Vec<u8> =
        (0..100_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for _ in 0..3 {
        writer.write_page(&page("http://example.org/a", b"small", &[])).unwrap();
        writer.write_page(&page("http://example.org/b", &body, &[])).unwrap();
    }
    writer.finish().unwrap();
    let (records, error) = read(&files, &archive(&files)[0]);
    assert!(error.is_none());
    assert_eq!(records.len(), 13);
    assert!(records[4].block.ends_with(&body));
    assert_eq!(records[4].get("WARC-Date"), Some("2026-01-02T12:00:00Z"));
}

#[test]
fn a_removed_transfer_coding_leaves_a_consistent_record() {
    let files = files();
    let mut writer = writer(&files, WriterOptions { block_digests: false, ..options() });
    let page = Page {
        response_head: b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        request: b"",
        ..page("http://example.org/", b"hello", &[])
    };
    writer.write_page(&page).unwrap();
    writer.finish().unwrap();
    let (records, _) = read(&files, &archive(&files)[0]);
    assert_eq!(records.len(), 2);
    assert_eq!(records[1].block, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(records[1].get("WARC-Block-Digest"), None);
    assert_eq!(records[1].get("WARC-Payload-Digest"), Some("sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N"));
}
