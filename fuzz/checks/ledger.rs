//! What must hold for any file that is taken for a ledger.

use std::path::Path;

use mattock_codec::checksum;
use mattock_env::{Files, Random, SimFiles};
use mattock_repository::LedgerReader;

const HEADER: &[u8; 12] = b"MATTOCKL\x07\0\0\0";

pub(crate) fn check(bytes: &[u8]) {
    look(bytes);
    // The same bytes as a block whose checksum is right: that keeps nobody from writing what he likes.
    let rows = bytes.first().map_or(0, |byte| u32::from(*byte)).to_le_bytes();
    let length = (bytes.len() as u32).to_le_bytes();
    for version in [1, 2, 4, 7] {
        let mut header = *HEADER;
        header[8] = version;
        let sum = checksum(0, header.len() as u64, &[&length, &rows, bytes]).to_le_bytes();
        look(&[&header[..], &length, &rows, &sum, bytes].concat());
    }
}

fn look(bytes: &[u8]) {
    let (files, path) = (Files::simulated(SimFiles::new(Random::from_seed(1))), Path::new("/l/0"));
    files.create_dir_all(Path::new("/l")).expect("a folder");
    files.write_atomic(path, bytes).expect("a file");
    let length = bytes.len() as u64;
    for end in [0, 11, length / 2, length, length + 1, u64::MAX] {
        let readers = [
            LedgerReader::open(&files, path, end).ok(),
            LedgerReader::open_damaged(&files, path, end).ok().map(|(reader, _)| reader),
        ];
        readers.into_iter().flatten().for_each(|reader| read(reader, bytes.len()));
        for from in [0, 12, length / 3, length, u64::MAX] {
            if let Ok(reader) = LedgerReader::open_at(&files, path, from, end) {
                read(reader, bytes.len());
            }
        }
    }
}

fn read(mut reader: LedgerReader, length: usize) {
    // Every call moves on or ends; an error that is not the last one is of a block that was passed.
    for _ in 0..=length + 2 {
        let block = reader.next_inserted(|row, time| {
            let _ = (row.url.len(), row.visit_end(), time, &row.place, row.details.is_some());
        });
        match block {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) if error.is_loss() => {}
            Err(_) => return,
        }
    }
    panic!("the reader does not come to an end");
}
