//! Prints the languages of texts: `{"file", "text"}` comes in as JSON lines, `{"file", "language"}` goes out, and at the end
//! `{"cpu_s"}`. The texts are given as plain text, so that no page can say its own language.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use mattock_analyze::{Document, Value, built_in};

fn main() -> io::Result<()> {
    let analyzer = built_in("language").ok_or_else(|| io::Error::other("no column `language`"))?;
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
        let language = if let Value::Text(language) = value { language } else { String::new() };
        writeln!(out, "{}", serde_json::json!({"file": file, "language": language}))?;
    }
    writeln!(out, "{}", serde_json::json!({"cpu_s": spent_s}))?;
    out.flush()
}

/// Processor time of this thread.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
