//! Whose word it is: things that a directory's own files ask for and that reach beyond it, bound to the user and the machine that set them.
//!
//! A crawl's configuration may name a command to run, a proxy, addresses within one's own network; a repository may name archives that lie
//! elsewhere. Whoever set that meant it. Whoever was given the directory by somebody else did not: there it is shown, and nothing comes of it
//! until it is confirmed (`--trust`).
//!
//! ```text
//! setting it, or --trust ──► a mark for each thing in DIR/TRUST ──► covered, for this user on this machine
//! ```
//!
//! A mark is a keyed hash (HMAC-SHA-256) of the thing itself. The key lies in the user's own configuration (`mattock/key`, readable for its owner
//! alone) and is mixed with the machine's number. So nobody else can make a mark, a copied one is worth nothing elsewhere, and one that
//! was made says nothing of other things. A directory that is moved on its machine keeps its marks.
//!
//! In simulation there is one user, whose directories are all their own.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{Files, OpenMode};

/// The file of a directory in which marks are kept.
const FILE: &str = "TRUST";
const FIRST_LINE: &str = "MATTOCK-TRUST 1";
/// A list that is longer was not written by us.
const BYTES_MAX: u64 = 64 << 20;
/// Says what this machine is.
const MACHINE: &str = "/etc/machine-id";

/// Something that a directory asks for and that reaches beyond it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reach {
    /// In the words of the setting: `watch.on_alert`, or `archive`.
    pub kind: &'static str,
    /// The command, the address, the path.
    pub what: String,
}

impl Reach {
    /// What a directory asks for.
    pub fn new(kind: &'static str, what: impl Into<String>) -> Reach {
        Reach { kind, what: what.into() }
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} = {}", self.kind, self.what)
    }
}

/// Who runs this program.
#[derive(Clone, Debug)]
pub struct User {
    kind: Kind,
    confirms: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The key, once it was asked for; none where there is no place to keep one.
    Real(Arc<OnceLock<Option<[u8; 32]>>>),
    Sim,
}

impl User {
    /// Whoever runs this process. Their key is looked for when it is needed.
    pub fn real() -> User {
        User { kind: Kind::Real(Arc::default()), confirms: false }
    }

    /// The only user there is.
    pub fn simulated() -> User {
        User { kind: Kind::Sim, confirms: false }
    }

    /// This user, who has said that what is found may be trusted.
    pub fn confirming(mut self) -> User {
        self.confirms = true;
        self
    }

    /// Whether they have said so.
    pub fn confirms(&self) -> bool {
        self.confirms
    }

    fn key(&self) -> Option<&[u8; 32]> {
        match &self.kind {
            Kind::Real(key) => key.get_or_init(|| find_key(&key_path()?).ok()).as_ref(),
            Kind::Sim => None,
        }
    }

    fn mark(&self, reach: &Reach) -> Option<String> {
        let text = [b"mattock reach 1\0", reach.kind.as_bytes(), b"\0", reach.what.as_bytes()].concat();
        let mark = hmac(self.key()?, &text);
        Some(mark.iter().fold(format!("{} ", reach.kind), |line, byte| line + &format!("{byte:02x}")))
    }
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of any length do");
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// Where the user's key lies.
fn key_path() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
    let directory = match named("XDG_CONFIG_HOME") {
        Some(directory) => PathBuf::from(directory),
        None => Path::new(&named("HOME")?).join(".config"),
    };
    Some(directory.join("mattock").join("key"))
}

/// The user's key for this machine; made, if there is none yet.
fn find_key(path: &Path) -> io::Result<[u8; 32]> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let files = Files::real().within(directory);
    let secret = match files.read(path) {
        Ok(secret) if secret.len() == 32 => secret,
        Ok(_) => return Err(io::ErrorKind::InvalidData.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(&files, directory, path)?,
        Err(error) => return Err(error),
    };
    let machine = Files::real().read(Path::new(MACHINE)).unwrap_or_default();
    Ok(hmac(&secret, &[b"mattock machine 1\0", machine.as_slice()].concat()))
}

fn make_key(files: &Files, directory: &Path, path: &Path) -> io::Result<Vec<u8>> {
    let mut secret = vec![0; 32];
    getrandom::fill(&mut secret).map_err(io::Error::other)?;
    files.create_dir_all(directory)?;
    let own = directory.join(format!("key.{}", std::process::id()));
    let file = files.open(&own, OpenMode::Private)?;
    file.write_all_at(&secret, 0)?;
    file.sync()?;
    // Of two that make one at once, one is first.
    let linked = files.hard_link(&own, path);
    files.remove_file(&own)?;
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => files.read(path),
        linked => linked.map(|()| secret),
    }
}

/// What of a directory its user stands for.
#[derive(Debug)]
pub struct Trusted {
    user: User,
    files: Files,
    path: PathBuf,
    marks: BTreeSet<String>,
}

impl Trusted {
    /// Reads the marks of a directory; what cannot be read covers nothing.
    pub fn read(user: &User, files: &Files, directory: &Path) -> Trusted {
        let (files, path) = (files.within(directory), directory.join(FILE));
        let marks = read_marks(&files, &path).unwrap_or_default();
        Trusted { user: user.clone(), files, path, marks }
    }

    /// Whether this user has set it here, on this machine, or confirmed it, or confirms whatever there is.
    pub fn covers(&self, reach: &Reach) -> bool {
        matches!(self.user.kind, Kind::Sim)
            || self.user.confirms
            || self.user.mark(reach).is_some_and(|mark| self.marks.contains(&mark))
    }

    /// Those of them that it does not cover.
    pub fn uncovered<'a>(&self, reaches: impl IntoIterator<Item = &'a Reach>) -> Vec<Reach> {
        reaches.into_iter().filter(|reach| !self.covers(reach)).cloned().collect()
    }

    /// Has these covered from now on.
    pub fn confirm<'a>(&mut self, reaches: impl IntoIterator<Item = &'a Reach>) -> io::Result<()> {
        if matches!(self.user.kind, Kind::Sim) {
            return Ok(());
        }
        let mut wanted = BTreeSet::new();
        for reach in reaches {
            let none =
                || io::Error::other("there is no place for the user's key: HOME is not set, or not writable");
            wanted.insert(self.user.mark(reach).ok_or_else(none)?);
        }
        if wanted.is_subset(&self.marks) {
            return Ok(());
        }
        self.marks.append(&mut wanted);
        let lines = self.marks.iter().fold(format!("{FIRST_LINE}\n"), |text, mark| text + mark + "\n");
        self.files.write_atomic(&self.path, lines.as_bytes())
    }
}

fn read_marks(files: &Files, path: &Path) -> io::Result<BTreeSet<String>> {
    if files.entry(path)?.is_none_or(|entry| entry.len > BYTES_MAX) {
        return Ok(BTreeSet::new());
    }
    let bytes = files.read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    let is_known = lines.next() == Some(FIRST_LINE);
    Ok(if is_known { lines.map(str::to_owned).collect() } else { BTreeSet::new() })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::Random;

    fn user(key: u8) -> User {
        User { kind: Kind::Real(Arc::new(OnceLock::from(Some([key; 32])))), confirms: false }
    }

    fn directory() -> PathBuf {
        let number = Random::from_entropy().next_u64();
        let path = std::env::temp_dir().join(format!("mattock-env-trust-{number:016x}"));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn what_one_user_set_binds_nobody_else() {
        let (dir, files) = (directory(), Files::real());
        let command = Reach::new("watch.on_alert", "mail us@example.com");
        let other = Reach::new("watch.on_alert", "mail us@example.com; rm -r ~");
        let mut trusted = Trusted::read(&user(1), &files, &dir);
        assert!(!trusted.covers(&command));
        trusted.confirm([&command]).unwrap();
        let trusted = Trusted::read(&user(1), &files, &dir);
        assert!(trusted.covers(&command) && !trusted.covers(&other));
        // Under another name it is another thing.
        assert!(!trusted.covers(&Reach::new("network.proxy", command.what.clone())));
        assert_eq!(trusted.uncovered([&command, &other]), std::slice::from_ref(&other));
        assert!(!Trusted::read(&user(2), &files, &dir).covers(&command));
        assert!(Trusted::read(&user(2).confirming(), &files, &dir).covers(&other));
        // Two users can each stand for it.
        Trusted::read(&user(2), &files, &dir).confirm([&other]).unwrap();
        assert!(Trusted::read(&user(1), &files, &dir).covers(&command));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_list_that_is_none_covers_nothing() {
        let (dir, files) = (directory(), Files::real());
        let reach = Reach::new("archive", "/elsewhere/a.warc.gz");
        Trusted::read(&user(1), &files, &dir).confirm([&reach]).unwrap();
        let path = dir.join(FILE);
        let whole = std::fs::read_to_string(&path).unwrap();
        let damaged =
            [String::new(), whole.replace("TRUST 1", "TRUST 2"), whole[..whole.len() - 9].to_owned()];
        for text in damaged {
            std::fs::write(&path, text).unwrap();
            assert!(!Trusted::read(&user(1), &files, &dir).covers(&reach));
        }
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(!Trusted::read(&user(1), &files, &dir).covers(&reach));
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let dir = directory();
        let path = dir.join("config/mattock/key");
        let key = find_key(&path).unwrap();
        assert_eq!(find_key(&path).unwrap(), key);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        std::fs::write(&path, b"short").unwrap();
        assert!(find_key(&path).is_err());
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn marks_are_hmac_sha_256() {
        // RFC 4231, test case 2.
        let mark = hmac(b"Jefe", b"what do ya want for nothing?");
        assert_eq!(mark[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    }
}
