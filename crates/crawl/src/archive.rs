//! From an exchange to the records that the archive keeps of it.

use std::fmt::Write as _;

use mattock_fetch::{Exchange, Protocol, Truncation};
use mattock_frontier::Request;
use mattock_repository::{Page, Security, Truncated, WarcWriter, Written};

use crate::CrawlError;

/// Stores the answer to a request, and says where. `decoded_cut`: undoing the content's coding was ended by a limit. A robots.txt
/// file has no row in the ledger, and is `unlisted`.
pub(crate) fn store(
    writer: &mut WarcWriter,
    request: &Request,
    exchange: &Exchange,
    decoded_cut: bool,
    unlisted: bool,
) -> Result<Written, CrawlError> {
    let mut metadata = vec![
        ("depth", request.depth.to_string()),
        ("fetchTimeMs", exchange.finished.since(exchange.begun).as_millis().to_string()),
    ];
    if let Some(tls) = &exchange.tls {
        metadata.push(("tlsCertificateSha256", hexadecimal(&tls.fingerprint)));
        metadata.push(("tlsCertificateVerdict", tls.verdict.to_string()));
    }
    let cut = exchange.truncated.map(truncated);
    let page = Page {
        url: request.url.as_str(),
        ip: exchange.address,
        date: exchange.begun_unix,
        request: &exchange.request,
        response_head: exchange.head_bytes(),
        body: exchange.body(),
        truncated: cut.or(decoded_cut.then_some(Truncated::Length)),
        security: exchange.tls.as_ref().map(|tls| Security {
            protocol: match exchange.protocol {
                Protocol::Http1 => "http/1.1",
                Protocol::Http2 => "h2",
            },
            version: tls.version,
            cipher_suite: &tls.cipher_suite,
        }),
        metadata: &metadata,
    };
    Ok(if unlisted { writer.write_unlisted(&page) } else { writer.write_page(&page) }?)
}

/// The archive's word for what cut a body short.
pub(crate) fn truncated(truncation: Truncation) -> Truncated {
    match truncation {
        Truncation::Length => Truncated::Length,
        Truncation::Time => Truncated::Time,
        Truncation::Disconnect => Truncated::Disconnect,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a String takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::hexadecimal;

    #[test]
    fn fingerprints_are_in_lower_case() {
        assert_eq!(hexadecimal(&[0, 0xab, 0x0f]), "00ab0f");
    }
}
