//! The column `NAME`: how many words a page has. Change `analyze_integer` at the end to what you want to know.
//!
//! Build it, and ask with it:
//!
//! ```sh
//! rustup target add wasm32-unknown-unknown
//! cargo build --release --target wasm32-unknown-unknown
//! mattock query DIR 'select name, NAME' --analyzer target/wasm32-unknown-unknown/release/NAME.wasm
//! ```
//!
//! Copied to `DIR/analyzers/NAME.wasm` it is found without `--analyzer`. The column's name is the file's name. What the column holds is
//! said by the name of the function: `analyze_text`, `analyze_integer`, `analyze_float`, `analyze_boolean`, `analyze_time`,
//! `analyze_text_list` or `analyze_integer_list`; a module has one of them. Print nothing, open nothing, ask no clock: there is only the
//! document. Each document gets a new memory, so nothing is remembered from one to the next.

// What is there for columns of another kind is not used yet.
#![allow(dead_code)]

/// What mattock offers. Functions that are not used do not get into the module.
mod mattock {
    mod host {
        #[link(wasm_import_module = "mattock")]
        unsafe extern "C" {
            pub fn url(start: *mut u8, capacity: usize) -> i32;
            pub fn head(start: *mut u8, capacity: usize) -> i32;
            pub fn header(name: *const u8, name_length: usize, start: *mut u8, capacity: usize) -> i32;
            pub fn body(start: *mut u8, capacity: usize) -> i32;
            pub fn content(start: *mut u8, capacity: usize) -> i32;
            pub fn text(start: *mut u8, capacity: usize) -> i32;
            pub fn status() -> i32;
            pub fn time() -> i64;
            pub fn truncated() -> i32;
            pub fn give_text(start: *const u8, length: usize);
            pub fn give_integer(value: i64);
            pub fn give_float(value: f64);
            pub fn give_boolean(value: i32);
            pub fn give_time(microseconds: i64);
            pub fn give_list();
            pub fn fail(start: *const u8, length: usize);
        }
    }

    /// Asks how long a part is, makes room for it, and asks for it.
    fn part(read: impl Fn(*mut u8, usize) -> i32) -> Option<Vec<u8>> {
        let length = usize::try_from(read(std::ptr::null_mut(), 0)).ok()?;
        let mut bytes = vec![0; length];
        read(bytes.as_mut_ptr(), length);
        Some(bytes)
    }

    fn text_part(read: impl Fn(*mut u8, usize) -> i32) -> Option<String> {
        part(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The URL that the document was fetched from.
    pub fn url() -> String {
        text_part(|start, capacity| unsafe { host::url(start, capacity) }).unwrap_or_default()
    }

    /// The status line and the header fields.
    pub fn head() -> Vec<u8> {
        part(|start, capacity| unsafe { host::head(start, capacity) }).unwrap_or_default()
    }

    /// A header field, in whatever case it is written.
    pub fn header(name: &str) -> Option<String> {
        text_part(|start, capacity| unsafe { host::header(name.as_ptr(), name.len(), start, capacity) })
    }

    /// The body, with its codings undone.
    pub fn body() -> Vec<u8> {
        part(|start, capacity| unsafe { host::body(start, capacity) }).unwrap_or_default()
    }

    /// The body as text, markup and all; nothing if it is neither HTML nor text.
    pub fn content() -> Option<String> {
        text_part(|start, capacity| unsafe { host::content(start, capacity) })
    }

    /// The main text, without markup, menus and the like; nothing if it is neither HTML nor text.
    pub fn text() -> Option<String> {
        text_part(|start, capacity| unsafe { host::text(start, capacity) })
    }

    /// The HTTP status.
    pub fn status() -> i32 {
        unsafe { host::status() }
    }

    /// When it was fetched: microseconds since 1970.
    pub fn time() -> i64 {
        unsafe { host::time() }
    }

    /// The body is only the beginning of what the server has.
    pub fn truncated() -> bool {
        unsafe { host::truncated() != 0 }
    }

    /// Gives a text; called again and again, a list of texts.
    pub fn give_text(value: &str) {
        unsafe { host::give_text(value.as_ptr(), value.len()) }
    }

    /// Gives a whole number; called again and again, a list of them.
    pub fn give_integer(value: i64) {
        unsafe { host::give_integer(value) }
    }

    /// Gives a number.
    pub fn give_float(value: f64) {
        unsafe { host::give_float(value) }
    }

    /// Gives true or false.
    pub fn give_boolean(value: bool) {
        unsafe { host::give_boolean(i32::from(value)) }
    }

    /// Gives a time: microseconds since 1970.
    pub fn give_time(microseconds: i64) {
        unsafe { host::give_time(microseconds) }
    }

    /// Gives a list that may stay empty.
    pub fn give_list() {
        unsafe { host::give_list() }
    }

    /// Says why there is no value for this document, and ends.
    pub fn fail(reason: &str) -> ! {
        unsafe { host::fail(reason.as_ptr(), reason.len()) };
        unreachable!("the call above does not return")
    }
}

/// Called once for each document. Where nothing is given, the value is null.
#[unsafe(no_mangle)]
pub extern "C" fn analyze_integer() {
    if let Some(text) = mattock::text() {
        mattock::give_integer(text.split_whitespace().count() as i64);
    }
}
