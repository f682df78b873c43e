//! Prints the languages of texts: `{"file", "text"}` comes in as JSON lines, `{"file", "language"}` goes out, and at the end
//! `{"cpu_s", "knows"}`, the processor time and all languages that can be an answer. The texts are given as plain text, so that no page can
//! say its own language. Another column may be named as the argument: `content_languages` is what the index has, of the beginning of the
//! text; the first language of its list is printed.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use mattock_analyze::{Document, Value, built_in, languages_known};

#[expect(clippy::disallowed_methods, reason = "its output is for programs")]
fn main() -> io::Result<()> {
    let column = std::env::args().nth(1).unwrap_or_else(|| "language".into());
    let analyzer = built_in(&column).ok_or_else(|| io::Error::other(format!("no column `{column}`")))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
    let mut spent_s = 0.0;
    for line in io::stdin().lock().lines() {
        let page: serde_json::Value = serde_json::from_str(&line?)?;
        let (Some(file), Some(text)) = (page["file"].as_str(), page["text"].as_str()) else { continue };
        let start_s = cpu_s();
        let document = Document::new("http://example.com/", 0, 200, head, text.as_bytes(), false);
        let value = analyzer.analyze(&document).map_err(io::Error::other)?;
        spent_s += cpu_s() - start_s;
        let languages = if let Value::Text(languages) = value { languages } else { String::new() };
        let language = languages.split(',').next().unwrap_or_default();
        writeln!(out, "{}", serde_json::json!({"file": file, "language": language}))?;
    }
    writeln!(out, "{}", serde_json::json!({"cpu_s": spent_s, "knows": languages_known()}))?;
    out.flush()
}

/// Processor time of this thread.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
