//! What kind of content bytes are, by their first bytes: for the column that says what a server's word was worth.
//!
//! Signatures first, then markup, then text or not, as the MIME sniffing standard orders them. Looks at no more than
//! a kilobyte or so; `None` where nothing is to be seen.

/// As much as is looked at.
const LOOK_BYTES: usize = 1445;

/// Where a signature stands, what it is, and what it is the signature of.
const SIGNATURES: [(usize, &[u8], &str); 30] = [
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (4, b"ftypavif", "image/avif"),
    (0, b"\0\0\x01\0", "image/vnd.microsoft.icon"),
    (0, b"II*\0", "image/tiff"),
    (0, b"MM\0*", "image/tiff"),
    (0, b"BM", "image/bmp"),
    (8, b"WAVE", "audio/vnd.wave"),
    (8, b"AVI ", "video/x-msvideo"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"OggS", "application/ogg"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"fLaC", "audio/x-flac"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"BZh", "application/x-bzip2"),
    (0, b"\xfd7zXZ\0", "application/x-xz"),
    (0, b"\x28\xb5\x2f\xfd", "application/zstd"),
    (0, b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (0, b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"wOFF", "font/woff"),
    (0, b"wOF2", "font/woff2"),
    (0, b"\x7fELF", "application/x-elf"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-tika-msoffice"),
    (0, b"{\\rtf", "application/rtf"),
];

/// Tags that a page begins with.
const PAGES: [&[u8]; 16] = [
    b"<!doctype html",
    b"<html",
    b"<head",
    b"<body",
    b"<title",
    b"<meta",
    b"<script",
    b"<style",
    b"<table",
    b"<div",
    b"<h1",
    b"<p",
    b"<a",
    b"<br",
    b"<font",
    b"<iframe",
];

/// What the bytes look like. `declared` decides between kinds that share a form: XML, ZIP, and text.
pub fn sniff(body: &[u8], declared: &str) -> Option<&'static str> {
    let seen = &body[..body.len().min(LOOK_BYTES)];
    let found =
        SIGNATURES.iter().find(|(at, bytes, _)| seen.get(*at..).is_some_and(|rest| rest.starts_with(bytes)));
    if let Some((_, _, kind)) = found {
        return Some(kind);
    }
    let seen = seen.strip_prefix(b"\xef\xbb\xbf").unwrap_or(seen);
    let text = seen.trim_ascii_start();
    if text.is_empty() {
        return None;
    }
    if begins(text, b"<?xml") {
        return Some(of_xml(text));
    }
    let mut text = text;
    while let Some(rest) = text.strip_prefix(b"<!--") {
        let Some(end) = memchr::memmem::find(rest, b"-->") else { break };
        text = rest[end + 3..].trim_ascii_start();
    }
    if PAGES
        .iter()
        .any(|tag| begins(text, tag) && text.get(tag.len()).is_none_or(|next| !next.is_ascii_alphanumeric()))
    {
        return Some("text/html");
    }
    if let Some(kind) = [
        (&b"<svg"[..], "image/svg+xml"),
        (b"<rss", "application/rss+xml"),
        (b"<feed", "application/atom+xml"),
    ]
    .iter()
    .find_map(|(tag, kind)| begins(text, tag).then_some(*kind))
    {
        return Some(kind);
    }
    let is_binary = seen.iter().any(|byte| matches!(byte, 0..=8 | 11 | 14..=26 | 28..=31));
    match (is_binary, text[0]) {
        (true, _) => Some("application/octet-stream"),
        (false, b'{' | b'[') if declared.contains("json") => Some("application/json"),
        (false, _) => match declared {
            "text/css" => Some("text/css"),
            "text/csv" => Some("text/csv"),
            "text/html" => Some("text/html"),
            kind if kind.contains("javascript") => Some("application/javascript"),
            _ => Some("text/plain"),
        },
    }
}

fn begins(text: &[u8], tag: &[u8]) -> bool {
    text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
}

fn of_xml(text: &[u8]) -> &'static str {
    let holds = |tag: &[u8]| memchr::memmem::find(text, tag).is_some();
    match () {
        () if holds(b"<html") || holds(b"<!DOCTYPE html") => "application/xhtml+xml",
        () if holds(b"<rss") => "application/rss+xml",
        () if holds(b"<feed") => "application/atom+xml",
        () if holds(b"<svg") => "image/svg+xml",
        () => "application/xml",
    }
}

#[cfg(test)]
mod tests {
    use super::sniff;

    #[test]
    fn contents_are_known_by_their_beginning() {
        for (body, declared, kind) in [
            (&b"%PDF-1.7 ..."[..], "text/html", Some("application/pdf")),
            (b"\n <!DOCTYPE HTML><p>", "", Some("text/html")),
            (b"<!-- one --> <!-- two --><HTML>", "text/plain", Some("text/html")),
            (b"<abbr>", "", Some("text/plain")),
            (b"<?xml version='1.0'?><rss>", "text/xml", Some("application/rss+xml")),
            (b"<?xml version='1.0'?><html xmlns=''>", "", Some("application/xhtml+xml")),
            (b"\xef\xbb\xbfplain", "", Some("text/plain")),
            (b"{\"a\": 1}", "application/json", Some("application/json")),
            (b"a\0b", "text/plain", Some("application/octet-stream")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", "", Some("image/webp")),
            (b"  ", "text/html", None),
            (b"", "text/html", None),
        ] {
            assert_eq!(sniff(body, declared), kind, "{}", String::from_utf8_lossy(body));
        }
    }
}
