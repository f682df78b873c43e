//! Remote files against the same bytes in memory: what is read, and what it costs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::reading::{AHEAD_BYTES_MAX, LEAST_BYTES};
use super::*;
use crate::Files;

/// Objects in memory, and which ranges were asked for.
#[derive(Debug, Default)]
struct Memory {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    reads: Mutex<Vec<Range<u64>>>,
}

impl Remote for Memory {
    fn length(&self, url: &str) -> io::Result<Option<u64>> {
        Ok(self.objects.lock().unwrap().get(url).map(|bytes| bytes.len() as u64))
    }

    fn read(&self, url: &str, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        let objects = self.objects.lock().unwrap();
        let bytes = objects.get(url).ok_or(io::ErrorKind::NotFound)?;
        self.reads.lock().unwrap().extend_from_slice(ranges);
        let part =
            |range: &Range<u64>| bytes[range.start as usize..(range.end as usize).min(bytes.len())].to_vec();
        Ok(ranges.iter().map(part).collect())
    }

    fn list(&self, url: &str) -> io::Result<Vec<StoredFile>> {
        let mut found: Vec<StoredFile> = Vec::new();
        for (key, bytes) in self.objects.lock().unwrap().iter() {
            let Some(below) = key.strip_prefix(url).and_then(|rest| rest.strip_prefix('/')) else { continue };
            let entry = match below.split_once('/') {
                Some((name, _)) => StoredFile { name: name.into(), len: 0, is_dir: true },
                None => StoredFile { name: below.into(), len: bytes.len() as u64, is_dir: false },
            };
            if found.last() != Some(&entry) {
                found.push(entry);
            }
        }
        Ok(found)
    }

    fn put(
        &self,
        url: &str,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = vec![0; length as usize];
        content.read_exact_at(&mut bytes, 0)?;
        sent(length)?;
        self.objects.lock().unwrap().insert(url.to_owned(), bytes);
        Ok(())
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let mut objects = self.objects.lock().unwrap();
        let bytes = objects.get(from).cloned().ok_or(io::ErrorKind::NotFound)?;
        objects.insert(to.to_owned(), bytes);
        Ok(())
    }

    fn remove(&self, url: &str) -> io::Result<()> {
        self.objects.lock().unwrap().remove(url);
        Ok(())
    }
}

fn files() -> (Files, Arc<Memory>) {
    let memory = Arc::new(Memory::default());
    (Files::real().with_remote(memory.clone()), memory)
}

fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

#[test]
fn what_is_a_url() {
    for url in ["s3://bucket/key", "file:///a b", "gs://b", "abfss://c@account.dfs.core.windows.net/k"] {
        assert!(is_url(Path::new(url)), "{url}");
    }
    for path in [
        "C:\\data", "C:/data", "C://data", "a:b/c", "/s3://b", "./s3://b", "s3:/b", "s3", "", "://x",
        "3s://b", "a b://c",
    ] {
        assert!(!is_url(Path::new(path)), "{path}");
    }
    let root = Path::new("s3://bucket/web");
    assert_eq!(located(root, "warc/a.warc.gz"), Path::new("s3://bucket/web/warc/a.warc.gz"));
    assert_eq!(located(root, "gs://other/a"), Path::new("gs://other/a"));
    assert_eq!(located(root, "/data/a"), Path::new("s3://bucket/web/outside/data/a"));
    assert_eq!(located(Path::new("/web"), "/data/a"), Path::new("/data/a"));
    assert_eq!(located(Path::new("/web"), "s3://bucket/a").to_str(), Some("s3://bucket/a"));
}

#[test]
fn files_are_objects_once_they_are_synced() {
    let (files, memory) = files();
    let path = Path::new("far://store/dir/one");
    let file = files.open(path, OpenMode::CreateNew).unwrap();
    file.write_all_at(b"hello world", 0).unwrap();
    assert_eq!(files.entry(path).unwrap(), None);
    file.sync().unwrap();
    assert_eq!(files.read(path).unwrap(), b"hello world");
    assert_eq!(files.open(path, OpenMode::CreateNew).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(files.open(path, OpenMode::Write).unwrap_err().kind(), io::ErrorKind::Unsupported);
    file.set_len(5).unwrap();
    file.write_all_at(b"J", 0).unwrap();
    assert_eq!(files.read(path).unwrap(), b"hello world", "as it was synced");
    file.sync().unwrap();
    assert_eq!(files.read(path).unwrap(), b"Jello");

    let two = Path::new("far://store/dir/two");
    files.rename(path, two).unwrap();
    files.write_atomic(path, b"new").unwrap();
    assert_eq!(files.hard_link(path, two).unwrap_err().kind(), io::ErrorKind::Unsupported);
    assert_eq!(files.rename(path, Path::new("/here")).unwrap_err().kind(), io::ErrorKind::Unsupported);
    let listed = files.list(Path::new("far://store/dir")).unwrap();
    assert_eq!(
        listed.iter().map(|entry| (entry.name.as_str(), entry.len)).collect::<Vec<_>>(),
        [("one", 3), ("two", 5)]
    );
    assert!(files.entry(Path::new("far://store/dir")).unwrap().unwrap().is_dir);
    assert_eq!(
        files.open(Path::new("far://store/no"), OpenMode::Read).unwrap_err().kind(),
        io::ErrorKind::NotFound
    );
    assert!(files.open(two, OpenMode::Read).unwrap().try_lock().unwrap());

    // From here to there, as far as it is wanted; and back.
    let source = files.open(two, OpenMode::Read).unwrap();
    let mut sent = 0;
    files
        .put(&source, 4, Path::new("far://store/four"), &mut |bytes| {
            sent += bytes;
            Ok(())
        })
        .unwrap();
    assert_eq!((files.read(Path::new("far://store/four")).unwrap().as_slice(), sent), (&b"Jell"[..], 4));
    let stopped =
        files.put(&source, 4, Path::new("far://store/five"), &mut |_| Err(io::ErrorKind::Interrupted.into()));
    assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
    assert_eq!(files.entry(Path::new("far://store/five")).unwrap(), None);
    files.remove_dir_all(Path::new("far://store/dir")).unwrap();
    assert_eq!(memory.objects.lock().unwrap().keys().collect::<Vec<_>>(), ["far://store/four"]);
}

#[test]
fn reading_in_order_takes_few_requests_and_single_places_cost_their_own_bytes() {
    let (files, memory) = files();
    let content = noise(40 << 20);
    let path = Path::new("far://store/large");
    files.write_atomic(path, &content).unwrap();

    let file = files.open(path, OpenMode::Read).unwrap();
    let mut buffer = vec![0; 100_000];
    let mut at = 0;
    while at < content.len() {
        let count = file.read_at(&mut buffer, at as u64).unwrap();
        assert_eq!(buffer[..count], content[at..at + count]);
        at += count;
    }
    let reads = std::mem::take(&mut *memory.reads.lock().unwrap());
    assert!(reads.len() < 16, "{reads:?}");
    assert!(reads.iter().all(|read| read.end - read.start <= AHEAD_BYTES_MAX));
    assert_eq!(reads.iter().map(|read| read.end - read.start).sum::<u64>(), content.len() as u64);

    // One record in a hundred.
    let file = files.open(path, OpenMode::Read).unwrap();
    for at in (1..40).map(|number| number << 20) {
        file.read_exact_at(&mut buffer[..20_000], at).unwrap();
    }
    let reads = std::mem::take(&mut *memory.reads.lock().unwrap());
    assert_eq!((reads.len(), reads.iter().map(|read| read.end - read.start).sum::<u64>()), (39, 39 * 20_000));

    file.read_at(&mut buffer[..10], 77).unwrap();
    file.release();
    file.read_at(&mut buffer[..10], 77).unwrap();
    assert_eq!(*memory.reads.lock().unwrap(), [77..77 + LEAST_BYTES, 77..77 + LEAST_BYTES]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_remote_file_reads_as_a_local_one(
        len in 0usize..3_000_000,
        reads in proptest::collection::vec((0u64..3_100_000, 0usize..300_000, any::<bool>()), 1..40),
    ) {
        let (files, _) = files();
        let content = noise(len);
        let path = Path::new("far://store/some");
        files.write_atomic(path, &content).unwrap();
        let file = files.open(path, OpenMode::Read).unwrap();
        let mut behind = 0;
        for (offset, count, goes_on) in reads {
            let offset = if goes_on { behind } else { offset };
            let mut buffer = vec![0; count];
            let read = file.read_at(&mut buffer, offset).unwrap();
            let left = content.get(offset as usize..).unwrap_or_default();
            prop_assert!(read <= left.len() && (read > 0 || left.is_empty() || count == 0));
            prop_assert_eq!(&buffer[..read], &left[..read]);
            behind = offset + read as u64;
            let exact = file.read_exact_at(&mut buffer, offset);
            prop_assert_eq!(exact.is_ok(), left.len() >= count || count == 0);
            if exact.is_ok() {
                prop_assert_eq!(&buffer[..], &left[..count]);
                let range = offset..offset + count as u64;
                if range.end <= len as u64 {
                    prop_assert_eq!(file.read_ranges(&[range]).unwrap(), [buffer]);
                }
            }
        }
    }
}
