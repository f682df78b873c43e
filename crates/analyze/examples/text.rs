//! Prints the main text of pages: their paths come in on standard input, a line each; `{"file", "text"}` goes out as JSON lines,
//! and at the end `{"cpu_s"}`, the processor time that analysing took. For `bench/text.py`; `--column NAME` prints another column.

use std::io::{self, BufRead as _, BufWriter, Write as _};

use mattock_analyze::{Document, Value, built_in};

#[expect(clippy::disallowed_methods, reason = "a benchmark reads real files")]
fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let column = match arguments.as_slice() {
        [_, flag, name] if flag == "--column" => name.as_str(),
        _ => "text",
    };
    let analyzer = built_in(column).ok_or_else(|| io::Error::other(format!("no column `{column}`")))?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut spent_s = 0.0;
    for path in io::stdin().lock().lines() {
        let path = path?;
        let body = std::fs::read(&path)?;
        // Stored pages were often made UTF-8 without telling them.
        let charset = if std::str::from_utf8(&body).is_ok() { "; charset=utf-8" } else { "" };
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html{charset}\r\n\r\n");
        let start_s = cpu_s();
        let document = Document::new("http://example.com/", 0, 200, head.as_bytes(), &body, false);
        let value = analyzer.analyze(&document).map_err(io::Error::other)?;
        spent_s += cpu_s() - start_s;
        let text = match value {
            Value::Text(text) => text,
            Value::Null => String::new(),
            other => format!("{other:?}"),
        };
        writeln!(out, "{}", serde_json::json!({"file": path, "text": text}))?;
    }
    writeln!(out, "{}", serde_json::json!({"cpu_s": spent_s}))?;
    out.flush()
}

/// Processor time of this thread.
fn cpu_s() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
