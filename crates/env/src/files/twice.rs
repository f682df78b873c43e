//! Small files that much depends on, kept twice: `NAME` and `NAME.copy`, with the same bytes.
//!
//! Each is replaced as one step, and both are durable before anybody is told that they are written. A crash in between may leave one of
//! them old: whoever opens for writing [settles](Files::settle_twice) that before anything is removed that only the old one needs. Who
//! reads takes the first, and where that is missing, fails its checksum or cannot be read at all, the copy. A missing copy is no damage.
//!
//! What a damaged file looks like its owner knows: everything here is handed a function that decodes the bytes. A file that is whole but of
//! a version that nobody knows is not damaged, and no reason to look at the copy.
//!
//! Costs: the bytes once more, and one sync of a file; the directory is synced once for both.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{Files, OpenMode, directory_of};

const SUFFIX: &str = ".copy";

/// The name of the copy of a file.
pub fn copy_name(name: &str) -> String {
    format!("{name}{SUFFIX}")
}

/// Where the copy of a file is.
pub fn copy_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(SUFFIX);
    name.into()
}

/// The name of the file that a name belongs to: its own, or that of which it is the copy.
pub fn without_copy(name: &str) -> &str {
    name.strip_suffix(SUFFIX).unwrap_or(name)
}

/// Why neither of the two could be used.
#[derive(Debug)]
pub enum Unread<E> {
    /// It could not be read.
    Io(io::Error),
    /// It was read, and is not what it should be.
    Content(E),
}

impl<E> Unread<E> {
    /// Whether there is no such file.
    pub fn is_missing(&self) -> bool {
        matches!(self, Unread::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

impl<E: fmt::Display> fmt::Display for Unread<E> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unread::Io(error) => error.fmt(out),
            Unread::Content(error) => error.fmt(out),
        }
    }
}

impl Files {
    /// Replaces a file and its copy, each as one step. Once this has returned, both hold the new bytes whatever happens; before that a
    /// crash may leave either of them old. The first is replaced first.
    pub fn write_twice(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let copy = copy_path(path);
        let write = |path: &Path| self.write_aside(path, bytes, OpenMode::CreateOrTruncate);
        let aside = [write(path)?, write(&copy)?];
        for (temporary, path) in aside.iter().zip([path, &copy]) {
            self.rename(temporary, path)?;
        }
        self.sync_dir(&directory_of(path))
    }

    /// Reads a file, or its copy if the file is of no use. If neither is, why the first is not; that it is missing says less than
    /// what is wrong with a copy that is there.
    pub fn read_either<T, E>(
        &self,
        path: &Path,
        decode: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<T, Unread<E>> {
        self.find_either(path, decode).map(|(value, _)| value)
    }

    /// The same, with the bytes.
    fn find_either<T, E>(
        &self,
        path: &Path,
        decode: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<(T, Vec<u8>), Unread<E>> {
        let read = |path: &Path| -> Result<(T, Vec<u8>), Unread<E>> {
            let bytes = self.read(path).map_err(Unread::Io)?;
            Ok((decode(&bytes).map_err(Unread::Content)?, bytes))
        };
        let first = match read(path) {
            Ok(found) => return Ok(found),
            Err(unread) => unread,
        };
        match read(&copy_path(path)) {
            Ok(found) => Ok(found),
            Err(copy) if first.is_missing() && !copy.is_missing() => Err(copy),
            Err(_) => Err(first),
        }
    }

    /// Reads either and sees to it that both are the same from now on.
    pub fn settle_twice<T, E>(
        &self,
        path: &Path,
        decode: impl Fn(&[u8]) -> Result<T, E>,
    ) -> Result<T, Unread<E>> {
        let (value, bytes) = self.find_either(path, decode)?;
        let is_same = |path: &Path| self.read(path).is_ok_and(|found| found == bytes);
        if !is_same(path) || !is_same(&copy_path(path)) {
            self.write_twice(path, &bytes).map_err(Unread::Io)?;
        }
        Ok(value)
    }

    /// Which of the two is of no use while the other one is; a copy may be missing.
    pub fn damaged_twin<T, E>(&self, path: &Path, decode: impl Fn(&[u8]) -> Result<T, E>) -> Option<PathBuf> {
        let copy = copy_path(path);
        let is_good = |path: &Path| self.read(path).is_ok_and(|bytes| decode(&bytes).is_ok());
        let is_there = |path: &Path| !matches!(self.entry(path), Ok(None));
        match (is_good(path), is_good(&copy)) {
            (false, true) => Some(path.to_owned()),
            (true, false) if is_there(&copy) => Some(copy),
            _ => None,
        }
    }

    /// Writes that one anew from the other; which it was.
    pub fn mend_twin<T, E>(
        &self,
        path: &Path,
        decode: impl Fn(&[u8]) -> Result<T, E>,
    ) -> io::Result<Option<PathBuf>> {
        let Some(damaged) = self.damaged_twin(path, decode) else { return Ok(None) };
        let other = if damaged == path { copy_path(path) } else { path.to_owned() };
        self.write_atomic(&damaged, &self.read(&other)?)?;
        Ok(Some(damaged))
    }
}

/// Takes a file that is kept twice, and what tells whether bytes are one of the two.
pub type VisitTwin<'a> = dyn FnMut(&Path, &dyn Fn(&[u8]) -> bool) -> io::Result<()> + 'a;

impl Files {
    /// Of all files that `each` visits: those that are of no use while the other one of the two is.
    pub fn damaged_twins(
        &self,
        each: impl FnOnce(&mut VisitTwin<'_>) -> io::Result<()>,
    ) -> io::Result<Vec<PathBuf>> {
        let mut damaged = Vec::new();
        each(&mut |path, is_whole| {
            damaged.extend(self.damaged_twin(path, |bytes| is_whole(bytes).then_some(()).ok_or(())));
            Ok(())
        })?;
        Ok(damaged)
    }

    /// Writes them anew; which they were.
    pub fn mend_twins(
        &self,
        each: impl FnOnce(&mut VisitTwin<'_>) -> io::Result<()>,
    ) -> io::Result<Vec<PathBuf>> {
        let mut mended = Vec::new();
        each(&mut |path, is_whole| {
            mended.extend(self.mend_twin(path, |bytes| is_whole(bytes).then_some(()).ok_or(()))?);
            Ok(())
        })?;
        Ok(mended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fault, Random, SimFiles};

    const PATH: &str = "/dir/NAME";

    /// Good bytes begin with their own number; what they say.
    fn decode(bytes: &[u8]) -> Result<u8, &'static str> {
        match bytes {
            [number, rest @ ..] if rest.len() == 3 && rest.iter().all(|byte| byte == number) => Ok(*number),
            _ => Err("damaged"),
        }
    }

    fn files(seed: u64) -> (Files, SimFiles) {
        let disk = SimFiles::new(Random::from_seed(seed));
        let files = Files::simulated(disk.clone());
        files.create_dir_all(Path::new("/dir")).unwrap();
        files.sync_dir(Path::new("/")).unwrap();
        (files, disk)
    }

    fn damage(files: &Files, path: &Path) {
        files.open(path, OpenMode::Write).unwrap().set_len(2).unwrap();
    }

    #[test]
    fn either_is_enough_and_the_other_is_mended() {
        let (path, copy) = (Path::new(PATH), copy_path(Path::new(PATH)));
        assert_eq!(copy, Path::new("/dir/NAME.copy"));
        assert_eq!(
            (copy_name("NAME"), without_copy("NAME.copy"), without_copy("NAME")),
            ("NAME.copy".into(), "NAME", "NAME")
        );
        let (files, _) = files(1);
        assert!(files.read_either(path, decode).unwrap_err().is_missing());
        for (number, damaged) in [(1, path), (2, &*copy)] {
            files.write_twice(path, &[number; 4]).unwrap();
            assert_eq!(files.damaged_twin(path, decode), None);
            damage(&files, damaged);
            assert_eq!(files.read_either(path, decode).unwrap(), number);
            assert_eq!(files.damaged_twin(path, decode).as_deref(), Some(damaged));
            assert_eq!(files.mend_twin(path, decode).unwrap().as_deref(), Some(damaged));
            assert_eq!(files.mend_twin(path, decode).unwrap(), None);
            assert_eq!(files.read(path).unwrap(), files.read(&copy).unwrap());
        }
        // A file that is missing is one that is damaged; a copy that is missing is one that was never made.
        files.remove_file(&copy).unwrap();
        assert_eq!(files.damaged_twin(path, decode), None);
        assert_eq!(files.settle_twice(path, decode).unwrap(), 2);
        files.remove_file(path).unwrap();
        assert_eq!(files.damaged_twin(path, decode).as_deref(), Some(path));
        assert_eq!(files.settle_twice(path, decode).unwrap(), 2);
        assert_eq!(files.read(path).unwrap(), [2; 4]);
        damage(&files, path);
        damage(&files, &copy);
        assert_eq!(files.damaged_twin(path, decode), None);
        assert!(matches!(files.read_either(path, decode), Err(Unread::Content("damaged"))));
        files.remove_file(path).unwrap();
        assert!(matches!(files.read_either(path, decode), Err(Unread::Content("damaged"))));
    }

    #[test]
    fn a_crash_at_any_operation_leaves_something_whole() {
        let path = Path::new(PATH);
        let mut seen = [0; 3];
        for seed in 0..60 {
            let (files, disk) = files(seed);
            files.write_twice(path, &[1; 4]).unwrap();
            disk.fail_at(disk.operations() + seed % 10, Fault::Stop);
            let written = files.write_twice(path, &[2; 4]).is_ok();
            disk.crash();
            let found = files.read_either(path, decode).unwrap();
            assert!(found == 2 || !written);
            seen[usize::from(found)] += 1;
            assert_eq!(files.settle_twice(path, decode).unwrap(), found);
            disk.crash();
            for path in [path, &copy_path(path)] {
                assert_eq!(decode(&files.read(path).unwrap()), Ok(found));
            }
        }
        assert!(seen[1] > 3 && seen[2] > 3, "{seen:?}");
    }
}
