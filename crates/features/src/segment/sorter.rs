//! Takes instances in any order and writes them as a segment.
//!
//! They lie one after the other in one buffer. When that is full they are sorted and written as a run, which is a segment of its
//! own; in the end runs are merged.

use std::path::{Path, PathBuf};

use mattock_codec::{Reader, put_counted};
use mattock_env::Files;
use mattock_weburl::WebUrl;

use super::merge::Segments;
use super::record::Instance;
use super::writer::SegmentWriter;
use crate::error::Result;
use crate::key;

/// See the module.
#[derive(Debug)]
pub struct SegmentSorter {
    files: Files,
    scratch: PathBuf,
    memory: u64,
    bytes: Vec<u8>,
    /// The first bytes of the key as a number, and where the instance begins.
    places: Vec<(u64, usize)>,
    key: Vec<u8>,
    body: Vec<u8>,
    runs: Vec<PathBuf>,
    name: String,
}

impl SegmentSorter {
    /// One that takes about `memory` bytes; its runs go to the directory `scratch`, and their names begin with `name`.
    pub fn new(files: &Files, scratch: &Path, name: &str, memory: u64) -> SegmentSorter {
        let (bytes, places, key, body, runs) = Default::default();
        let (files, scratch, name) = (files.clone(), scratch.to_path_buf(), name.to_owned());
        SegmentSorter { files, scratch, memory, bytes, places, key, body, runs, name }
    }

    /// Takes what was found at a URL.
    pub fn push(&mut self, url: &WebUrl, instance: &Instance<'_>) -> Result<()> {
        self.key.clear();
        key::push_key(&mut self.key, url);
        self.body.clear();
        instance.put_body(&mut self.body);
        let used = self.bytes.len() + self.key.len() + self.body.len() + self.places.len() * 16;
        // A vector that grows has been half as large before.
        if used as u64 > self.memory * 2 / 3 && !self.places.is_empty() {
            self.spill()?;
        }
        self.places.push((first_bytes(&self.key), self.bytes.len()));
        put_counted(&mut self.bytes, &self.key);
        self.bytes.extend_from_slice(&instance.time_ms.to_le_bytes());
        put_counted(&mut self.bytes, &self.body);
        Ok(())
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by(|one, two| {
            one.0.cmp(&two.0).then_with(|| instance_at(bytes, one.1).cmp(&instance_at(bytes, two.1)))
        });
    }

    /// Writes what is in memory, of each URL the newest, and begins anew.
    fn write(&mut self, writer: &mut SegmentWriter) -> Result<()> {
        self.sort();
        let mut waiting: Option<(&[u8], i64, &[u8])> = None;
        for (_, at) in &self.places {
            let next = instance_at(&self.bytes, *at);
            if let Some((key, time_ms, body)) = waiting.filter(|waiting| waiting.0 != next.0) {
                writer.put(key, time_ms, body)?;
            }
            waiting = Some(next);
        }
        if let Some((key, time_ms, body)) = waiting {
            writer.put(key, time_ms, body)?;
        }
        self.places.clear();
        self.bytes.clear();
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let path = self.scratch.join(format!("{}-{}.run", self.name, self.runs.len()));
        let mut writer = SegmentWriter::create_scratch(&self.files, &path)?;
        self.runs.push(path);
        self.write(&mut writer)?;
        writer.finish(0).map(drop)
    }

    /// Writes everything as a segment that is kept, in which so many documents were unreadable; how many instances are in it.
    pub fn finish(mut self, path: &Path, recipe: &str, unreadable: u64) -> Result<u64> {
        if self.runs.is_empty() {
            let mut writer = SegmentWriter::create(&self.files, path, recipe)?;
            self.write(&mut writer)?;
            return writer.finish(unreadable);
        }
        self.spill()?;
        (self.bytes, self.places) = (Vec::new(), Vec::new());
        Segments::open(&self.files, &self.runs, &self.scratch, self.memory)?.write(
            &self.files,
            path,
            recipe,
            unreadable,
        )
    }
}

impl Drop for SegmentSorter {
    fn drop(&mut self) {
        for run in &self.runs {
            // What stays is removed with the whole scratch directory.
            drop(self.files.remove_file(run));
        }
    }
}

fn first_bytes(key: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = key.len().min(8);
    first[..len].copy_from_slice(&key[..len]);
    u64::from_be_bytes(first)
}

/// Key, time and body of the instance that begins at `at`: instances compare by these.
fn instance_at(bytes: &[u8], at: usize) -> (&[u8], i64, &[u8]) {
    let mut reader = Reader::from_place(bytes, at);
    let read = (|| {
        Some((reader.counted()?, i64::from_le_bytes(reader.take(8)?.try_into().ok()?), reader.counted()?))
    })();
    read.expect("it was put there")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::{State, read_summary};
    use mattock_env::{Random, SimFiles};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn url(number: u64) -> WebUrl {
        let host = ["a.com", "www.a.com", "b.org"][(number % 3) as usize];
        WebUrl::parse(&format!("http://{host}/{}", number / 3)).unwrap()
    }

    /// What is told of an instance: when, and where it links to.
    type Told = (i64, Vec<String>);

    fn read(files: &Files, paths: &[PathBuf], memory: u64) -> BTreeMap<String, Told> {
        let mut segments = Segments::open(files, paths, Path::new("/scratch"), memory).unwrap();
        let (mut found, mut last) = (BTreeMap::new(), Vec::new());
        while let Some((url, instance)) = segments.next().unwrap() {
            let mut key = Vec::new();
            key::push_key(&mut key, &WebUrl::parse(&url).unwrap());
            assert!(last < key, "{url} comes late");
            last = key;
            let links = instance.links.iter().map(|link| (*link).to_owned()).collect();
            assert_eq!((instance.state, instance.sketch.len()), (State::Page, 3));
            found.insert(url, (instance.time_ms, links));
        }
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn the_newest_of_each_url_comes_back(
            given in proptest::collection::vec((0_u64..120, -5_i64..5, 0_usize..40), 0..600),
            memory in 0_u64..40_000,
            segments in 1_usize..6,
        ) {
            let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
            files.create_dir_all(Path::new("/scratch")).unwrap();
            let mut model: BTreeMap<String, Told> = BTreeMap::new();
            let mut sorters: Vec<SegmentSorter> = (0..segments)
                .map(|number| SegmentSorter::new(&files, Path::new("/scratch"), &number.to_string(), memory))
                .collect();
            for (at, (number, time_ms, links)) in given.iter().enumerate() {
                let links: Vec<String> = (0..*links).map(|link| format!("http://c.com/{link}")).collect();
                let instance = Instance {
                    time_ms: *time_ms,
                    links: links.iter().map(String::as_str).collect(),
                    sketch: vec![1, 2, *number],
                    ..Instance::default()
                };
                sorters[at % segments].push(&url(*number), &instance).unwrap();
                let known = model.entry(url(*number).as_str().into()).or_insert((i64::MIN, Vec::new()));
                if (known.0, known.1.len()) < (*time_ms, links.len()) {
                    *known = (*time_ms, links);
                }
            }
            let mut paths = Vec::new();
            let mut instances = 0;
            for (number, sorter) in sorters.into_iter().enumerate() {
                let path = PathBuf::from(format!("/{number}.segment"));
                instances += sorter.finish(&path, "a recipe", 7).unwrap();
                let summary = read_summary(&files, &path).unwrap();
                prop_assert_eq!((summary.recipe.as_str(), summary.unreadable), ("a recipe", 7));
                paths.push(path);
            }
            prop_assert!(instances >= model.len() as u64);
            for memory in [0, 1 << 30] {
                prop_assert_eq!(&read(&files, &paths, memory), &model);
            }
            prop_assert_eq!(files.list(Path::new("/scratch")).unwrap(), []);
        }
    }

    #[test]
    fn other_bytes_are_refused_wherever_they_are() {
        let files = Files::simulated(SimFiles::new(Random::from_seed(7)));
        files.create_dir_all(Path::new("/scratch")).unwrap();
        let path = PathBuf::from("/one.segment");
        let mut sorter = SegmentSorter::new(&files, Path::new("/scratch"), "one", 1 << 20);
        for number in 0..400 {
            let instance = Instance { sketch: vec![number; 64], ..Instance::default() };
            sorter.push(&url(number), &instance).unwrap();
        }
        assert_eq!(sorter.finish(&path, "recipe", 0).unwrap(), 400);
        let whole = files.read(&path).unwrap();
        let all = |bytes: &[u8]| -> Result<u64> {
            files.write_atomic(&path, bytes).unwrap();
            let mut segments = Segments::open(&files, std::slice::from_ref(&path), Path::new("/scratch"), 0)?;
            let mut count = 0;
            while segments.next()?.is_some() {
                count += 1;
            }
            Ok(count)
        };
        assert_eq!(all(&whole).unwrap(), 400);
        for at in (0..whole.len()).step_by(whole.len() / 150) {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            let error = all(&bytes).expect_err(&format!("byte {at}")).to_string();
            assert!(error.contains("/one.segment"), "{error}");
            assert!(all(&whole[..at]).is_err(), "cut at {at}");
        }
    }
}
