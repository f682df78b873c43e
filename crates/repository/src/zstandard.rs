//! Zstandard frames out of a file, one after the other, in bounded memory, as the IIPC's draft for `.warc.zst` has them.
//!
//! - A record is one frame or several; the reader above puts them together.
//! - Skippable frames between them are passed over. One with the magic number of a dictionary, which belongs at the
//!   front of a file, is used for the frames behind it, wherever in the file the reading began.
//! - Checksum and content size are verified by the library, where a frame has them.
//! - A frame may ask for a window of 128 MiB, which is also what the `zstd` command allows, and a dictionary may take
//!   8 MiB: a reader needs no more than these and its buffers, whatever the file says.

use std::io;

use zstd::zstd_safe::zstd_sys::ZSTD_ErrorCode;
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

use crate::bounded::Bounded;
use crate::error::Damage;
use crate::input::{Failure, Input};

/// The first bytes of a frame, as a number.
const FRAME: u32 = 0xfd2f_b528;
/// Of frames that hold something else.
const SKIPPABLE_FIRST: u32 = 0x184d_2a50;
const SKIPPABLE_LAST: u32 = 0x184d_2a5f;
/// Of one that holds a dictionary.
pub(crate) const DICTIONARY_FRAME: u32 = 0x184d_2a5d;
/// The first bytes of a dictionary.
pub(crate) const DICTIONARY: [u8; 4] = [0x37, 0xa4, 0x30, 0xec];
pub(crate) const DICTIONARY_BYTES_MAX: usize = 8 << 20;
const WINDOW_LOG_MAX: u32 = 27;
/// A frame that is larger, or says that it becomes larger, is unpacked piece by piece.
const WHOLE_BYTES_MAX: usize = 4 << 20;

/// The first bytes of a frame.
pub(crate) const MAGIC: [u8; 4] = FRAME.to_le_bytes();

/// Whether a file that begins like this is made of frames. One of fewer than four bytes may be a torn file.
pub(crate) fn is_zstandard(first: &[u8]) -> bool {
    match first.first_chunk() {
        Some(magic) => matches!(u32::from_le_bytes(*magic), FRAME | SKIPPABLE_FIRST..=SKIPPABLE_LAST),
        None if first.is_empty() => false,
        None => MAGIC.starts_with(first) || DICTIONARY_FRAME.to_le_bytes().starts_with(first),
    }
}

/// A cursor over the frames of a file.
pub(crate) struct Frames {
    input: Input,
    context: DCtx<'static>,
    /// Whether the front of the file was looked at for a dictionary.
    front_seen: bool,
    /// The frame is over, and its checksum was right.
    ended: bool,
}

impl Frames {
    pub(crate) fn new(position: u64) -> Frames {
        Frames { input: Input::new(position), context: context(), front_seen: false, ended: true }
    }

    /// The place in the file of the next byte that is looked at: between frames, where the next one begins.
    pub(crate) fn position(&self) -> u64 {
        self.input.position()
    }

    /// Where its bytes come from.
    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    /// Where its bytes come from.
    pub(crate) fn input_mut(&mut self) -> &mut Input {
        &mut self.input
    }

    /// Unpacks the frame that was begun whole behind `out[..filled]`, which grows for it, and says how many bytes it gave;
    /// `None` if it has to be read piece by piece, beginning where this began.
    pub(crate) fn whole(
        &mut self,
        file: &Bounded,
        out: &mut Vec<u8>,
        filled: usize,
    ) -> Result<Option<usize>, Failure> {
        let bytes = loop {
            match zstd_safe::find_frame_compressed_size(self.input.available()) {
                Ok(bytes) => break bytes,
                Err(code) if !is(code, ZSTD_ErrorCode::ZSTD_error_srcSize_wrong) => return Ok(None),
                Err(_) => {
                    if self.input.available().len() >= WHOLE_BYTES_MAX || !self.input.more(file)? {
                        return Ok(None);
                    }
                }
            }
        };
        let frame = &self.input.available()[..bytes];
        let Ok(Some(plain_bytes)) = zstd_safe::get_frame_content_size(frame) else { return Ok(None) };
        let Some(plain_bytes) = usize::try_from(plain_bytes).ok().filter(|bytes| *bytes <= WHOLE_BYTES_MAX)
        else {
            return Ok(None);
        };
        if out.len() - filled < plain_bytes {
            out.resize(filled + plain_bytes, 0);
        }
        match self.context.decompress(&mut out[filled..], frame) {
            Ok(written) => {
                self.input.consume(bytes);
                self.ended = true;
                Ok(Some(written))
            }
            Err(_) => {
                self.context.reset(ResetDirective::SessionOnly).map_err(failure)?;
                Ok(None)
            }
        }
    }

    /// Goes to the next frame that holds data, and says where it begins; `None` at the end of the file.
    pub(crate) fn begin(&mut self, file: &Bounded) -> Result<Option<u64>, Failure> {
        if !std::mem::replace(&mut self.front_seen, true) && self.position() > 0 {
            let mut first = [0; 4];
            let has_dictionary = match file.read_exact_at(&mut first, 0) {
                Ok(()) => first == DICTIONARY_FRAME.to_le_bytes(),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
                Err(error) => return Err(Failure::Io(error)),
            };
            if has_dictionary {
                let mut front = std::mem::replace(&mut self.input, Input::new(0));
                let read = self.read_dictionary(file);
                front.count(&self.input);
                self.input = front;
                read?;
            }
        }
        loop {
            let first = self.input.peek(file, 4)?;
            if first.is_empty() {
                return Ok(None);
            }
            let Some(magic) = first.first_chunk() else {
                let failure =
                    if is_zstandard(first) { Failure::Torn } else { Failure::Damaged(Damage::Garbage) };
                return Err(failure);
            };
            match u32::from_le_bytes(*magic) {
                FRAME => {
                    self.context.reset(ResetDirective::SessionOnly).map_err(failure)?;
                    self.ended = false;
                    return Ok(Some(self.position()));
                }
                DICTIONARY_FRAME => self.read_dictionary(file)?,
                SKIPPABLE_FIRST..=SKIPPABLE_LAST => {
                    let end = self.skippable_end(file)?;
                    self.input.seek(end, None);
                }
                _ => return Err(Failure::Damaged(Damage::Garbage)),
            }
        }
    }

    /// Decompresses into `out`, which must not be empty; 0 when the frame is over and its checksum was right.
    pub(crate) fn read(&mut self, file: &Bounded, out: &mut [u8]) -> Result<usize, Failure> {
        while !self.ended {
            let mut input = InBuffer::around(self.input.available());
            let mut output = OutBuffer::around(&mut *out);
            let missing = self.context.decompress_stream(&mut output, &mut input).map_err(failure)?;
            let (consumed, produced) = (input.pos(), output.pos());
            self.input.consume(consumed);
            self.ended = missing == 0;
            if produced > 0 {
                return Ok(produced);
            }
            if consumed == 0 && !self.ended {
                if !self.input.available().is_empty() {
                    return Err(Failure::Damaged(Damage::Compressed));
                }
                if !self.input.fill(file)? {
                    return Err(Failure::Torn);
                }
            }
        }
        Ok(0)
    }

    /// Reads the magic number and the length of a skippable frame, and says where it ends.
    fn skippable_end(&mut self, file: &Bounded) -> Result<u64, Failure> {
        self.input.u32(file)?;
        let bytes = u64::from(self.input.u32(file)?);
        let end = self.position() + bytes;
        if end > file.len().map_err(Failure::Io)? {
            return Err(Failure::Torn);
        }
        Ok(end)
    }

    /// Reads a frame that holds a dictionary, which may be compressed itself.
    fn read_dictionary(&mut self, file: &Bounded) -> Result<(), Failure> {
        let end = self.skippable_end(file)?;
        let stored_bytes = end - self.position();
        if stored_bytes > DICTIONARY_BYTES_MAX as u64 {
            return Err(Failure::Unreadable("its dictionary has more than 8 MiB"));
        }
        let mut stored = Vec::with_capacity(stored_bytes as usize);
        for _ in 0..stored_bytes {
            stored.push(self.input.byte(file)?);
        }
        let dictionary = if stored.starts_with(&MAGIC) {
            let mut plain = Vec::with_capacity(DICTIONARY_BYTES_MAX);
            context().decompress(&mut plain, &stored).map_err(failure)?;
            plain
        } else {
            stored
        };
        if !dictionary.starts_with(&DICTIONARY) {
            return Err(Failure::Unreadable("its dictionary is of an unknown kind"));
        }
        self.context.reset(ResetDirective::SessionOnly).map_err(failure)?;
        self.context.load_dictionary(&dictionary).map_err(failure)?;
        Ok(())
    }
}

fn context() -> DCtx<'static> {
    let mut context = DCtx::create();
    context
        .set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))
        .expect("a window that zstd itself allows");
    context
}

/// What an error of the library means here.
fn failure(code: usize) -> Failure {
    if is(code, ZSTD_ErrorCode::ZSTD_error_checksum_wrong) {
        Failure::Damaged(Damage::Checksum)
    } else if is(code, ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        Failure::Unreadable("it asks for a window of more than 128 MiB")
    } else if is(code, ZSTD_ErrorCode::ZSTD_error_dictionary_wrong) {
        Failure::Unreadable("it asks for a dictionary that is not in the file")
    } else {
        Failure::Damaged(Damage::Compressed)
    }
}

/// Whether a code of the library means this error: its errors are the numbers of its list, negated.
fn is(code: usize, error: ZSTD_ErrorCode) -> bool {
    code == 0_usize.wrapping_sub(error as usize)
}
