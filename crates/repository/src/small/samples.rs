//! Records such as a crawl writes beside its pages: what the code is made of.

use mattock_env::{Random, UnixTime};

use crate::record::{DatePrecision, Digest, Record, RecordId, RecordType, warc_field};

const RECORDS: u64 = 128;
const WORDS: [&str; 12] = [
    "news", "blog", "article", "image", "product", "forum", "about", "page", "index", "world", "index",
    "category",
];
const SUFFIXES: [&str; 4] = ["com", "org", "net", "de"];

/// Requests and metadata by turns, always the same.
pub(super) fn records() -> Vec<Vec<u8>> {
    let mut random = Random::from_seed(1);
    (0..RECORDS).map(|number| record(number % 2 == 0, &mut random)).collect()
}

fn record(is_request: bool, random: &mut Random) -> Vec<u8> {
    let mut word = || WORDS[random.below(WORDS.len() as u64) as usize];
    let (name, section, page) = (word(), word(), word());
    let suffix = SUFFIXES[random.below(SUFFIXES.len() as u64) as usize];
    let host = format!("www.{name}-{section}.{suffix}");
    let path = format!("/{section}/{page}-{}.html", random.below(100_000));
    let url = format!("https://{host}{path}");
    let mut block = Vec::new();
    if is_request {
        block.extend_from_slice(
            format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: mattock/0.1 (+https://example.org/)\r\n\
                 Accept: text/html,*/*;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n"
            )
            .as_bytes(),
        );
    } else {
        warc_field(&mut block, "depth", &random.below(20).to_string());
        warc_field(&mut block, "fetchTimeMs", &random.below(2_000).to_string());
    }
    let date = UnixTime::from_micros(1_767_225_600_000_000 + random.below(1 << 44) as i64);
    let block: &[&[u8]] = &[&block];
    let record = Record {
        target_uri: Some(&url),
        ip: is_request.then(|| (random.next_u64() as u32).to_be_bytes().into()),
        concurrent_to: Some(RecordId::new(random)),
        block_digest: Some(Digest::of(block)),
        content_type: if is_request {
            "application/http; msgtype=request"
        } else {
            "application/warc-fields"
        },
        block,
        ..Record::new(
            if is_request { RecordType::Request } else { RecordType::Metadata },
            RecordId::new(random),
            date,
        )
    };
    let mut bytes = Vec::new();
    record.write_to(DatePrecision::Microseconds, &mut bytes);
    bytes
}
