#![expect(
    unsafe_code,
    reason = "libdeflate tells where a gzip member ended, but its safe bindings keep that to themselves; without it every \
              member of an archive would have to be unpacked by a library of half the speed"
)]
//! One whole gzip member out of one slice: libdeflate, with its checksum verified.
//!
//! Filled by the readers with what they have of a file. What does not fit into their buffers, or turns out to be bad, is
//! theirs to read piece by piece.

use std::ptr::NonNull;

use libdeflate_sys::{
    libdeflate_alloc_decompressor, libdeflate_decompressor, libdeflate_free_decompressor,
    libdeflate_gzip_decompress_ex, libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE,
    libdeflate_result_LIBDEFLATE_SUCCESS,
};

/// What became of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inflated {
    /// It took so many bytes of the input, and gave so many; its checksum is right.
    Whole { read: usize, written: usize },
    /// The output is too small.
    NoRoom,
    /// It is damaged, or the input does not hold all of it.
    Bad,
}

/// The library's working memory.
pub(crate) struct Inflater(NonNull<libdeflate_decompressor>);

// SAFETY: the decompressor is memory of its own, without ties to the thread that made it; every use takes `&mut`.
unsafe impl Send for Inflater {}

impl Inflater {
    pub(crate) fn new() -> Inflater {
        // SAFETY: takes nothing, and gives a decompressor or null.
        let made = unsafe { libdeflate_alloc_decompressor() };
        Inflater(NonNull::new(made).expect("memory for the tables of a decompressor"))
    }

    /// Unpacks the member that `input` begins with; what follows it is not looked at.
    pub(crate) fn member(&mut self, input: &[u8], out: &mut [u8]) -> Inflated {
        let (mut read, mut written) = (0, 0);
        // SAFETY: the decompressor is alive and borrowed by nobody else; both slices are passed with their lengths, within
        // which the library stays; the two results are local.
        let result = unsafe {
            libdeflate_gzip_decompress_ex(
                self.0.as_ptr(),
                input.as_ptr().cast(),
                input.len(),
                out.as_mut_ptr().cast(),
                out.len(),
                &raw mut read,
                &raw mut written,
            )
        };
        #[expect(non_upper_case_globals, reason = "names of the library")]
        match result {
            libdeflate_result_LIBDEFLATE_SUCCESS => Inflated::Whole { read, written },
            libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Inflated::NoRoom,
            _ => Inflated::Bad,
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: it was allocated by the library, and nobody has it any more.
        unsafe { libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::fastest());
        let mut out = vec![0; compressor.gzip_compress_bound(data.len())];
        let len = compressor.gzip_compress(data, &mut out).unwrap();
        out.truncate(len);
        out
    }

    #[test]
    fn a_member_ends_where_it_ends() {
        let data = b"a page, a page, a page, a page".repeat(50);
        let member = gzip(&data);
        let mut inflater = Inflater::new();
        let mut out = vec![0; 2000];
        let whole = Inflated::Whole { read: member.len(), written: data.len() };
        assert_eq!(inflater.member(&member, &mut out), whole);
        assert_eq!(out[..data.len()], data);
        let two = [&member[..], &member].concat();
        assert_eq!(inflater.member(&two, &mut out), whole);
        assert_eq!(inflater.member(&member[..member.len() - 1], &mut out), Inflated::Bad);
        assert_eq!(inflater.member(&member, &mut out[..100]), Inflated::NoRoom);
        assert_eq!(inflater.member(&[], &mut out), Inflated::Bad);
        let mut damaged = member.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert_eq!(inflater.member(&damaged, &mut out), Inflated::Bad);
    }
}
