//! The functions that a module may import, all of them from `mattock`: reading the document, giving the value.
//!
//! A module names places in its own memory; each is checked, and every byte that is copied costs fuel, so that a loop of calls is
//! bounded as any other loop. What goes wrong here ends the call, for this document.

use mattock_analyze::AnalyzeError;
use wasmi::errors::HostError;
use wasmi::{Caller, Engine, Error, Linker, Memory, StoreLimits, TrapCode};

use crate::answer::{Answer, Given};
use crate::document::Parts;

/// What imports are imported from.
pub(crate) const HOST: &str = "mattock";

/// Bytes that are copied for one step of fuel.
const BYTES_PER_FUEL: u64 = 8;

/// Steps that a call costs beside them: it takes as long as many instructions do.
const CALL_FUEL: u64 = 32;

/// Returned where a document has no such part.
const NONE: i32 = -1;

/// What belongs to one document: made before the module is called, gone after it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) parts: Parts,
    pub(crate) answer: Answer,
    pub(crate) limits: StoreLimits,
}

/// Carries why a call was ended through the interpreter.
#[derive(Debug)]
pub(crate) struct Ended(pub(crate) AnalyzeError);

impl std::fmt::Display for Ended {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl HostError for Ended {}

fn ended(error: AnalyzeError) -> Error {
    Error::host(Ended(error))
}

fn failed(message: impl Into<String>) -> Error {
    ended(AnalyzeError::Failed(message.into()))
}

/// The module's memory. That it is there was checked when the module was loaded.
fn memory(caller: &Caller<'_, State>) -> Result<Memory, Error> {
    caller
        .get_export("memory")
        .and_then(wasmi::Extern::into_memory)
        .ok_or_else(|| failed("the module has no memory"))
}

/// Takes the fuel for a call, and for handing over so many bytes.
fn charge(caller: &mut Caller<'_, State>, bytes: usize) -> Result<(), Error> {
    let cost = bytes as u64 / BYTES_PER_FUEL + CALL_FUEL;
    let left = caller.get_fuel()?.checked_sub(cost).ok_or(TrapCode::OutOfFuel)?;
    caller.set_fuel(left)
}

/// The bytes from `start`, `length` of them, where they are all in memory.
fn place(start: u32, length: usize, memory_bytes: usize) -> Result<std::ops::Range<usize>, Error> {
    let start = start as usize;
    start.checked_add(length).filter(|end| *end <= memory_bytes).map(|end| start..end).ok_or_else(|| {
        failed(format!("named {length} bytes at {start}, but its memory ends at {memory_bytes}"))
    })
}

/// Copies the bytes that `part` finds to `start`, as far as `capacity` reaches; returns how many there are.
fn hand_over(
    caller: &mut Caller<'_, State>,
    start: u32,
    capacity: u32,
    part: impl FnOnce(&Parts) -> Option<&[u8]>,
) -> Result<i32, Error> {
    charge(caller, 0)?;
    let memory = memory(caller)?;
    let (bytes, state) = memory.data_and_store_mut(&mut *caller);
    let Some(part) = part(&state.parts) else { return Ok(NONE) };
    let length = i32::try_from(part.len()).map_err(|_| failed("the document is larger than 2 GiB"))?;
    let copied = part.len().min(capacity as usize);
    let place = place(start, copied, bytes.len())?;
    bytes[place].copy_from_slice(&part[..copied]);
    charge(caller, copied)?;
    Ok(length)
}

/// The bytes that the module names.
fn bytes_at(caller: &mut Caller<'_, State>, start: u32, length: u32) -> Result<Vec<u8>, Error> {
    charge(caller, length as usize)?;
    let memory = memory(caller)?;
    let bytes = memory.data(&*caller);
    Ok(bytes[place(start, length as usize, bytes.len())?].to_vec())
}

/// The text that the module names; `what` says what it is for.
fn text_at(caller: &mut Caller<'_, State>, start: u32, length: u32, what: &str) -> Result<String, Error> {
    String::from_utf8(bytes_at(caller, start, length)?)
        .map_err(|error| failed(format!("{what} is not UTF-8 at byte {}", error.utf8_error().valid_up_to())))
}

fn give(caller: &mut Caller<'_, State>, given: Given) -> Result<(), Error> {
    charge(caller, 0)?;
    let answer = &mut caller.data_mut().answer;
    answer.expect_bytes(0).and_then(|()| answer.give(given)).map_err(ended)
}

/// All functions that can be imported.
pub(crate) fn linker(engine: &Engine) -> Result<Linker<State>, Error> {
    let mut linker = Linker::new(engine);
    read_functions(&mut linker)?;
    give_functions(&mut linker)?;
    Ok(linker)
}

type Call<'a> = Caller<'a, State>;

fn read_functions(linker: &mut Linker<State>) -> Result<(), Error> {
    linker.func_wrap(HOST, "url", |mut caller: Call<'_>, start: u32, capacity: u32| {
        hand_over(&mut caller, start, capacity, |parts| Some(parts.url.as_bytes()))
    })?;
    linker.func_wrap(HOST, "head", |mut caller: Call<'_>, start: u32, capacity: u32| {
        hand_over(&mut caller, start, capacity, |parts| Some(&parts.head))
    })?;
    linker.func_wrap(HOST, "body", |mut caller: Call<'_>, start: u32, capacity: u32| {
        hand_over(&mut caller, start, capacity, |parts| Some(&parts.body))
    })?;
    linker.func_wrap(HOST, "content", |mut caller: Call<'_>, start: u32, capacity: u32| {
        hand_over(&mut caller, start, capacity, |parts| parts.content.as_deref().map(str::as_bytes))
    })?;
    linker.func_wrap(HOST, "text", |mut caller: Call<'_>, start: u32, capacity: u32| {
        hand_over(&mut caller, start, capacity, |parts| parts.text.as_deref().map(str::as_bytes))
    })?;
    linker.func_wrap(
        HOST,
        "header",
        |mut caller: Call<'_>, name: u32, name_length: u32, start: u32, capacity: u32| {
            let name = text_at(&mut caller, name, name_length, "the name of a header field")?;
            // Looking for it goes through all of the head.
            let head_bytes = caller.data().parts.head.len();
            charge(&mut caller, head_bytes)?;
            let parts = &mut caller.data_mut().parts;
            parts.header = parts.header(&name);
            hand_over(&mut caller, start, capacity, |parts| parts.header.as_deref().map(str::as_bytes))
        },
    )?;
    linker.func_wrap(HOST, "status", |mut caller: Call<'_>| {
        charge(&mut caller, 0).map(|()| i32::from(caller.data().parts.status))
    })?;
    linker.func_wrap(HOST, "time", |mut caller: Call<'_>| {
        charge(&mut caller, 0).map(|()| caller.data().parts.time_us)
    })?;
    linker.func_wrap(HOST, "truncated", |mut caller: Call<'_>| {
        charge(&mut caller, 0).map(|()| i32::from(caller.data().parts.truncated))
    })?;
    Ok(())
}

fn give_functions(linker: &mut Linker<State>) -> Result<(), Error> {
    linker.func_wrap(HOST, "give_text", |mut caller: Call<'_>, start: u32, length: u32| {
        caller.data_mut().answer.expect_bytes(length as usize).map_err(ended)?;
        let text = text_at(&mut caller, start, length, "the text that was given")?;
        caller.data_mut().answer.give(Given::Text(text)).map_err(ended)
    })?;
    linker.func_wrap(HOST, "give_integer", |mut caller: Call<'_>, integer: i64| {
        give(&mut caller, Given::Integer(integer))
    })?;
    linker.func_wrap(HOST, "give_float", |mut caller: Call<'_>, float: f64| {
        give(&mut caller, Given::Float(float))
    })?;
    linker.func_wrap(HOST, "give_boolean", |mut caller: Call<'_>, boolean: i32| {
        give(&mut caller, Given::Boolean(boolean != 0))
    })?;
    linker.func_wrap(HOST, "give_time", |mut caller: Call<'_>, time_us: i64| {
        give(&mut caller, Given::Time(time_us))
    })?;
    linker.func_wrap(HOST, "give_list", |mut caller: Call<'_>| give(&mut caller, Given::List))?;
    linker.func_wrap(HOST, "fail", |mut caller: Call<'_>, start: u32, length: u32| -> Result<(), Error> {
        let reason = bytes_at(&mut caller, start, length.min(REASON_BYTES_MAX))?;
        Err(failed(String::from_utf8_lossy(&reason)))
    })?;
    Ok(())
}

/// As much of a reason is kept.
const REASON_BYTES_MAX: u32 = 1 << 10;

/// The functions and their types, for complaints and documentation: (name, parameters, results).
pub(crate) const FUNCTIONS: [(&str, &str, &str); 16] = [
    ("url", "i32, i32", "i32"),
    ("head", "i32, i32", "i32"),
    ("header", "i32, i32, i32, i32", "i32"),
    ("body", "i32, i32", "i32"),
    ("content", "i32, i32", "i32"),
    ("text", "i32, i32", "i32"),
    ("status", "", "i32"),
    ("time", "", "i64"),
    ("truncated", "", "i32"),
    ("give_text", "i32, i32", ""),
    ("give_integer", "i64", ""),
    ("give_float", "f64", ""),
    ("give_boolean", "i32", ""),
    ("give_time", "i64", ""),
    ("give_list", "", ""),
    ("fail", "i32, i32", ""),
];
