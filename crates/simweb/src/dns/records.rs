//! Writing the records of an answer, as many as fit.

use crate::answer::{NameData, NameRecord};

use super::{CLASS_IN, HEADER_BYTES, TYPE_A, TYPE_AAAA, TYPE_ANY, TYPE_CNAME};

/// Appends the records that a question of this kind is about, up to `bytes_max` of the whole message. Returns their
/// number and whether some had to be left out.
pub(super) fn push(out: &mut Vec<u8>, records: &[NameRecord], kind: u16, bytes_max: usize) -> (u16, bool) {
    let mut count = 0;
    for record in records {
        let record_kind = kind_of(&record.data);
        // An alias belongs to every answer.
        if record_kind != TYPE_CNAME && kind != TYPE_ANY && kind != record_kind {
            continue;
        }
        let start = out.len();
        match &record.name {
            Some(name) => push_name(out, name),
            // A pointer to the question's name.
            None => out.extend_from_slice(&[0xc0, HEADER_BYTES as u8]),
        }
        out.extend_from_slice(&[0, record_kind as u8, 0, CLASS_IN as u8]);
        out.extend_from_slice(&record.ttl_s.to_be_bytes());
        let length_at = out.len();
        out.extend_from_slice(&[0, 0]);
        match &record.data {
            NameData::A(address) => out.extend_from_slice(&address.octets()),
            NameData::Aaaa(address) => out.extend_from_slice(&address.octets()),
            NameData::Cname(name) => push_name(out, name),
        }
        let length = (out.len() - length_at - 2) as u16;
        out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
        if out.len() > bytes_max {
            out.truncate(start);
            return (count, true);
        }
        count += 1;
    }
    (count, false)
}

fn kind_of(data: &NameData) -> u16 {
    match data {
        NameData::A(_) => TYPE_A,
        NameData::Aaaa(_) => TYPE_AAAA,
        NameData::Cname(_) => TYPE_CNAME,
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    for label in name.split('.').filter(|label| !label.is_empty()) {
        let label = &label.as_bytes()[..label.len().min(63)];
        out.push(label.len() as u8);
        out.extend_from_slice(label);
    }
    out.push(0);
}
