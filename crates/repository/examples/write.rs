//! Writes a small archive that shows every kind of record, to check with other tools:
//! `cargo run -p mattock-repository --example write -- DIRECTORY [gzip | zstd | dictionary]`.

use std::path::Path;
use std::sync::Arc;

use mattock_env::{Files, Random, UnixTime};
use mattock_repository::record::RefersTo;
use mattock_repository::{
    Compression, Dictionary, Page, Record, RecordId, RecordType, RepositoryError, Security, Truncated,
    WarcWriter, WriterOptions, train_dictionary,
};

fn main() -> Result<(), RepositoryError> {
    let directory = std::env::args().nth(1).unwrap_or_else(|| "archive".into());
    let (compression, dictionary) = match std::env::args().nth(2).as_deref() {
        Some("zstd") => (Compression::Zstd(1), Dictionary::None),
        Some("dictionary") => (Compression::Zstd(1), Dictionary::Given(dictionary()?)),
        _ => (Compression::Gzip(1), Dictionary::None),
    };
    let mut random = Random::from_seed(1);
    let options = WriterOptions {
        compression,
        dictionary,
        revisit_payloads: 1000,
        prefix: "example".into(),
        file_bytes_max: 200_000,
        warcinfo: vec![
            ("software".into(), "mattock/0.1".into()),
            ("format".into(), "WARC File Format 1.1".into()),
            ("robots".into(), "obey".into()),
            ("operator".into(), "Nobody <nobody@example.org>".into()),
            ("description".into(), "records of\r\nevery: kind".into()),
        ],
        ..WriterOptions::default()
    };
    let mut writer = WarcWriter::open(&Files::real(), Path::new(&directory), options, random.fork("ids"))?;
    let heads: [&[u8]; 6] = [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n",
        b"HTTP/1.0 200 OK\nServer: line feeds only\n\n",
        b"HTTP/1.1 200 OK\r\n \t\r\nX-Folded: a\r\n  b\r\nBad line\r\nX-Nul: \0\x0b\r\n\r\n",
        b"HTTP/1.1 301 Moved Permanently\r\nLocation: /\xc3\xa9\xff\r\nContent-Length: 999\r\n\r\n",
        b"HTTP/1.1 200\r\nWARC-Type: warcinfo\r\n\r\n",
    ];
    for number in 0..300_u64 {
        let date = UnixTime::from_micros(1_767_355_200_000_000 + number as i64 * 1_234_567);
        let url = format!("http://example.org/{number}?a=b c\r\nWARC-Type: evil");
        // Some are there again.
        let body = body(&mut Random::from_seed(if number % 7 == 6 { number / 2 } else { number }));
        let metadata =
            [("via", "http://example.org/\r\nforged: yes".to_owned()), ("depth", number.to_string())];
        let written = writer.write_page(&Page {
            url: &url,
            ip: Some(if number % 2 == 0 {
                [192, 0, 2, 1].into()
            } else {
                [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()
            }),
            date,
            request: b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
            response_head: heads[number as usize % heads.len()],
            body: &body,
            truncated: (number % 10 == 9).then_some(Truncated::Length),
            security: (number % 4 == 0).then_some(Security {
                protocol: if number % 8 == 0 { "h2" } else { "http/1.1" },
                version: "tls/1.3",
                cipher_suite: "TLS_AES_128_GCM_SHA256",
            }),
            metadata: if number % 3 == 0 { &metadata } else { &[] },
        })?;
        if number % 50 == 0 {
            let id = RecordId::new(&mut random);
            writer.write_record(&Record {
                target_uri: Some("http://example.org/again"),
                refers_to: Some(RefersTo { id: Some(written.record_id), target_uri: &url, date }),
                payload_digest: Some(written.payload_digest),
                content_type: "application/http; msgtype=response",
                block: &[b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"],
                ..Record::new(RecordType::Revisit, id, date)
            })?;
        }
    }
    writer.finish()
}

fn body(random: &mut Random) -> Vec<u8> {
    let mut body = Vec::new();
    for _ in 0..random.below(400) {
        body.extend_from_slice(if random.chance(0.5) { b"WARC/1.1\r\n\r\n" } else { b"<p>mattock</p>" });
        body.push(random.below(256) as u8);
    }
    body
}

fn dictionary() -> Result<Arc<[u8]>, RepositoryError> {
    let bodies: Vec<Vec<u8>> = (1000..1300).map(|seed| body(&mut Random::from_seed(seed))).collect();
    let samples: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
    Ok(Arc::from(train_dictionary(&samples, 8 << 10)?))
}
