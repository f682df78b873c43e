//! Stores in memory and in a directory, used as files.

use std::path::Path as FilePath;

use mattock_env::{Files, OpenMode, Random};
use object_store::memory::InMemory;
use proptest::prelude::*;

use super::*;

fn noise(len: usize) -> Vec<u8> {
    (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn in_memory() -> (Files, Arc<Objects>) {
    let objects = Arc::new(Objects::new().with_store("s3://bucket", Arc::new(InMemory::new())));
    (Files::real().with_remote(objects.clone()), objects)
}

/// Both stores, each with a prefix that is empty; what is in the directory goes with the guard.
fn both() -> Vec<(Files, String, Option<Directory>)> {
    let directory = Directory(
        std::env::temp_dir().join(format!("mattock-objects-{:016x}", Random::from_entropy().next_u64())),
    );
    let url = format!("file://{}", directory.0.display());
    vec![
        (in_memory().0, "s3://bucket/some/prefix".to_owned(), None),
        (Files::real().with_remote(Arc::new(Objects::new())), url, Some(directory)),
    ]
}

struct Directory(std::path::PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = Files::real().remove_dir_all(&self.0);
    }
}

#[test]
fn objects_are_files() {
    for (files, prefix, _guard) in both() {
        let root = FilePath::new(&prefix);
        assert_eq!(files.entry(root).unwrap(), None);
        assert!(files.list(root).unwrap().is_empty());
        for name in ["a", "dir/b", "dir/with blank %41 ü~", "dir/below/c"] {
            files.write_atomic(&root.join(name), name.as_bytes()).unwrap();
            assert_eq!(files.read(&root.join(name)).unwrap(), name.as_bytes());
        }
        let names = |below: &str| -> Vec<(String, bool)> {
            files
                .list(&root.join(below))
                .unwrap()
                .into_iter()
                .map(|entry| (entry.name, entry.is_dir))
                .collect()
        };
        assert_eq!(names(""), [("a".into(), false), ("dir".into(), true)]);
        assert_eq!(
            names("dir"),
            [("b".into(), false), ("below".into(), true), ("with blank %41 ü~".into(), false)]
        );
        assert!(files.entry(&root.join("dir")).unwrap().unwrap().is_dir);
        assert_eq!(files.entry(&root.join("dir/b")).unwrap().unwrap().len, 5);
        files.rename(&root.join("a"), &root.join("moved/a")).unwrap();
        assert_eq!(files.read(&root.join("moved/a")).unwrap(), b"a");
        assert_eq!(files.open(&root.join("a"), OpenMode::Read).unwrap_err().kind(), io::ErrorKind::NotFound);
        files.remove_file(&root.join("moved/a")).unwrap();
        files.remove_file(&root.join("moved/a")).unwrap();
        files.write_atomic(&root.join("dir/b"), b"longer than before").unwrap();
        assert_eq!(files.entry(&root.join("dir/b")).unwrap().unwrap().len, 18);
        files.remove_dir_all(root).unwrap();
        assert_eq!(
            files.open(&root.join("dir/b"), OpenMode::Read).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }
}

#[test]
fn large_objects_go_in_parts_and_come_in_few_requests() {
    let (files, objects) = in_memory();
    let content = noise(30 << 20);
    let local = Directory(
        std::env::temp_dir().join(format!("mattock-objects-{:016x}", Random::from_entropy().next_u64())),
    );
    files.create_dir_all(&local.0).unwrap();
    files.write_atomic(&local.0.join("large"), &content).unwrap();
    let source = files.open(&local.0.join("large"), OpenMode::Read).unwrap();
    let path = FilePath::new("s3://bucket/large");
    let mut steps = Vec::new();
    files
        .put(&source, 29 << 20, path, &mut |bytes| {
            steps.push(bytes >> 20);
            Ok(())
        })
        .unwrap();
    assert_eq!(steps, [8, 8, 8, 5]);
    let before = objects.counts();
    assert_eq!((before.requests, before.bytes_written), (6, 29 << 20));
    assert_eq!(files.read(path).unwrap(), content[..29 << 20]);

    // A user who has had enough leaves what was there.
    let mut sent = 0;
    let stopped = files.put(&source, 30 << 20, path, &mut |bytes| {
        sent += bytes;
        if sent > 10 << 20 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
    assert_eq!(files.entry(path).unwrap().unwrap().len, 29 << 20);

    let before = objects.counts();
    let file = files.open(path, OpenMode::Read).unwrap();
    let (mut buffer, mut at) = (vec![0; 50_000], 0);
    while let count @ 1.. = file.read_at(&mut buffer, at).unwrap() {
        at += count as u64;
    }
    let after = objects.counts();
    assert_eq!(after.bytes_read - before.bytes_read, 29 << 20);
    assert!(after.requests - before.requests < 14, "{after:?} {before:?}");
}

#[test]
fn callers_may_block_inside_any_runtime() {
    let (files, _) = in_memory();
    files.write_atomic(FilePath::new("s3://bucket/one"), b"one").unwrap();
    for runtime in [
        tokio::runtime::Builder::new_current_thread().build().unwrap(),
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap(),
    ] {
        let files = files.clone();
        let read = async move { files.read(FilePath::new("s3://bucket/one")).unwrap() };
        assert_eq!(runtime.block_on(async { tokio::spawn(read).await.unwrap() }), b"one");
        // And be the last user there.
        runtime.block_on(async { drop(Files::real().with_remote(Arc::new(Objects::new()))) });
    }
}

#[test]
fn errors_name_the_url() {
    let files = Files::real().with_remote(Arc::new(Objects::new()));
    let said = |url: &str| files.read(FilePath::new(url)).unwrap_err().to_string();
    assert!(said("ftp://host/x").contains("ftp://host/x: `ftp` is not among"), "{}", said("ftp://host/x"));
    assert!(said("file:///no/such/file").contains("there is no file:///no/such/file"));
    assert!(said("file:///etc/../x").contains("leave out `..`"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_file_by_url_reads_as_the_local_one(
        len in 0usize..2_000_000,
        reads in proptest::collection::vec((0u64..2_100_000, 0usize..400_000), 1..20),
    ) {
        let directory = Directory(std::env::temp_dir().join(format!("mattock-objects-{:016x}", Random::from_entropy().next_u64())));
        let files = Files::real().with_remote(Arc::new(Objects::new()));
        files.create_dir_all(&directory.0).unwrap();
        let local = directory.0.join("some");
        files.write_atomic(&local, &noise(len)).unwrap();
        let near = files.open(&local, OpenMode::Read).unwrap();
        let far = files.open(FilePath::new(&format!("file://{}", local.display())), OpenMode::Read).unwrap();
        prop_assert_eq!(near.len().unwrap(), far.len().unwrap());
        for (offset, count) in reads {
            let (mut here, mut there) = (vec![0; count], vec![0; count]);
            let both = (near.read_exact_at(&mut here, offset), far.read_exact_at(&mut there, offset));
            prop_assert_eq!(both.0.is_ok(), both.1.is_ok());
            prop_assert!(here == there || both.0.is_err());
            let ranges = [offset..offset + count as u64, 0..10];
            match (near.read_ranges(&ranges), far.read_ranges(&ranges)) {
                (Ok(here), Ok(there)) => prop_assert_eq!(here, there),
                (here, there) => prop_assert_eq!(here.is_ok(), there.is_ok()),
            }
        }
    }
}
