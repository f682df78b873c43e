//! Lists what is in archives of any origin: `cargo run -p mattock-repository --example list -- FILE…` prints a line for each
//! record, and for each that cannot be read why; it goes on behind damage.

use std::path::Path;

use mattock_env::Files;
use mattock_repository::http::BodyDecoder;
use mattock_repository::{RepositoryError, WarcReader};

const BODY_BYTES_MAX: usize = 64 << 20;

#[expect(clippy::print_stdout, reason = "the list is what this is for")]
fn main() -> Result<(), RepositoryError> {
    let mut decoder = BodyDecoder::new(BODY_BYTES_MAX);
    for name in std::env::args().skip(1) {
        let mut reader = WarcReader::open(&Files::real(), Path::new(&name))?.go_on_behind_damage();
        println!("{name}");
        loop {
            match reader.next_record() {
                Ok(None) => break,
                Err(error @ RepositoryError::Io { .. }) => return Err(error),
                Err(error) => println!("  {error}"),
                Ok(Some(record)) => {
                    let body = record.response().map(|response| (response.status, decoder.decode(&response)));
                    let body = body.map(|(status, body)| (status, body.bytes.len(), body.flaw));
                    println!(
                        "  {}+{} {} {} {} {} block of {}, body {body:?}",
                        record.offset,
                        record.length.map_or("shared".into(), |length| length.to_string()),
                        record.version,
                        record.fields.get("WARC-Type").unwrap_or("-"),
                        record.fields.get("WARC-Date").unwrap_or("-"),
                        record.target_uri().unwrap_or("-"),
                        record.block.len()
                    );
                }
            }
        }
    }
    Ok(())
}
