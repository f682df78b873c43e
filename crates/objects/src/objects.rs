//! [`Objects`]: all stores, as a [`Remote`].

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::stream::{StreamExt as _, TryStreamExt as _};
use mattock_env::{File, Remote, StoredFile};
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};

use crate::address::{Address, Kind};
use crate::counts::{Counters, Counts};
use crate::engine::Engine;
use crate::error::ObjectsError;
use crate::named::Named;
use crate::put::Put;
use crate::stores::{self, Stores};

/// Ranges of one object that are asked for at once.
const IN_FLIGHT: usize = 8;
/// So many lengths are remembered.
const LENGTHS_MAX: usize = 100_000;

/// See the module. Clients are made when their store is used first.
#[derive(Debug, Default)]
pub struct Objects {
    engine: Engine,
    counters: Arc<Counters>,
    named: Arc<Named>,
    connecting: Stores,
    stores: Mutex<BTreeMap<String, Arc<dyn ObjectStore>>>,
    /// Objects that were looked at: what is there is not changed under a reader, it is replaced by what begins with the same bytes.
    lengths: Mutex<BTreeMap<String, u64>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store with a key of it.
struct Place {
    store: Arc<dyn ObjectStore>,
    path: Path,
    kind: Kind,
}

impl Objects {
    /// No store yet.
    pub fn new() -> Objects {
        Objects::default()
    }

    /// The same, and this store for URLs that begin with `prefix`, like `s3://bucket`.
    pub fn with_store(self, prefix: &str, store: Arc<dyn ObjectStore>) -> Objects {
        locked(&self.stores).insert(prefix.to_owned(), store);
        self
    }

    /// These stores, with names that mean something else than on this machine.
    #[cfg(all(test, feature = "http"))]
    pub(crate) fn with_names(mut self, names: Arc<crate::network::Names>) -> Objects {
        self.connecting.names = Some(names);
        self
    }

    /// The user has named this URL, so that its server may be asked wherever it is. One that only files name must be public.
    pub fn named_by_user(&self, url: &str) {
        self.named.add(url);
    }

    /// What was asked of all stores so far.
    pub fn counts(&self) -> Counts {
        self.counters.get()
    }

    fn place(&self, url: &str) -> Result<Place, ObjectsError> {
        let address = Address::parse(url)?;
        let path = Path::parse(address.key).map_err(|_| ObjectsError::Key { url: url.to_owned() })?;
        let mut stores = locked(&self.stores);
        let store = match stores.get(address.store) {
            Some(store) => store.clone(),
            None => {
                let (owned, connecting, named) =
                    (url.to_owned(), self.connecting.clone(), self.named.clone());
                let connect = async move { connecting.connect(Address::parse(&owned)?, &owned, named).await };
                let store = self.engine.run(connect)??;
                stores.insert(address.store.to_owned(), store.clone());
                store
            }
        };
        Ok(Place { store, path, kind: address.kind })
    }

    fn learn(&self, url: &str, length: u64) {
        let mut lengths = locked(&self.lengths);
        if lengths.len() < LENGTHS_MAX {
            lengths.insert(url.to_owned(), length);
        }
    }

    fn forget(&self, url: &str) {
        locked(&self.lengths).remove(url);
    }

    fn head(&self, url: &str) -> Result<Option<u64>, ObjectsError> {
        if let Some(length) = locked(&self.lengths).get(url) {
            return Ok(Some(*length));
        }
        let Place { store, path, .. } = self.place(url)?;
        if path.as_ref().is_empty() {
            return Ok(None);
        }
        self.counters.request();
        match self.engine.run(async move { store.head(&path).await })? {
            Ok(meta) => {
                self.learn(url, meta.size);
                Ok(Some(meta.size))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(ObjectsError::store(url, &error)),
        }
    }

    fn get(&self, url: &str, ranges: &[Range<u64>]) -> Result<Vec<Vec<u8>>, ObjectsError> {
        let Place { store, path, .. } = self.place(url)?;
        let counters = self.counters.clone();
        let asked = ranges.to_vec();
        let came = self.engine.run(async move {
            let requests = asked.into_iter().map(|range| {
                let (store, path, counters) = (store.clone(), path.clone(), counters.clone());
                async move {
                    counters.request();
                    let bytes = store.get_range(&path, range).await?;
                    counters.read(bytes.len() as u64);
                    Ok::<_, Error>(bytes)
                }
            });
            futures::stream::iter(requests).buffered(IN_FLIGHT).try_collect::<Vec<_>>().await
        })?;
        let came = came.map_err(|error| ObjectsError::store(url, &error))?;
        let is_whole = |(range, bytes): (&Range<u64>, &Bytes)| range.end - range.start == bytes.len() as u64;
        match ranges.iter().zip(&came).all(is_whole) {
            true => Ok(came.into_iter().map(Vec::from).collect()),
            false => Err(ObjectsError::Shorter { url: url.to_owned() }),
        }
    }

    fn below(&self, url: &str) -> Result<Vec<StoredFile>, ObjectsError> {
        let Place { store, path, kind } = self.place(url)?;
        self.counters.request();
        let listing = async move { stores::listed(&*store, &path).await };
        let listed = self.engine.run(listing)?.map_err(|error| match kind {
            Kind::Http if stores::lists_nothing(&error) => ObjectsError::NoList { url: url.to_owned() },
            _ => ObjectsError::store(url, &error),
        })?;
        let name = |path: &Path| path.as_ref().rsplit('/').next().unwrap_or_default().to_owned();
        let mut found = Vec::new();
        for object in listed.objects {
            let entry = StoredFile { name: name(&object.location), len: object.size, is_dir: false };
            self.learn(&format!("{}/{}", url.trim_end_matches('/'), entry.name), entry.len);
            found.push(entry);
        }
        let prefixes = listed.common_prefixes.iter();
        found.extend(prefixes.map(|prefix| StoredFile { name: name(prefix), len: 0, is_dir: true }));
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }
}

impl Remote for Objects {
    fn length(&self, url: &str) -> io::Result<Option<u64>> {
        Ok(self.head(url)?)
    }

    fn read(&self, url: &str, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        Ok(self.get(url, ranges)?)
    }

    fn list(&self, url: &str) -> io::Result<Vec<StoredFile>> {
        Ok(self.below(url)?)
    }

    fn put(
        &self,
        url: &str,
        content: &File,
        length: u64,
        sent: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<()> {
        let Place { store, path, .. } = self.place(url)?;
        self.forget(url);
        let put = Put { engine: &self.engine, counters: &self.counters, store, path, url };
        Ok(put.put(content, length, sent)?)
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        let (source, target) = (self.place(from)?, self.place(to)?);
        if !Arc::ptr_eq(&source.store, &target.store) {
            let message = format!("{from} and {to} are in two stores: nothing is copied between them");
            return Err(io::Error::new(io::ErrorKind::CrossesDevices, message));
        }
        self.forget(to);
        self.counters.request();
        let copied = self.engine.run(async move { source.store.copy(&source.path, &target.path).await })?;
        Ok(copied.map_err(|error| ObjectsError::store(from, &error))?)
    }

    fn remove(&self, url: &str) -> io::Result<()> {
        let Place { store, path, .. } = self.place(url)?;
        self.forget(url);
        self.counters.request();
        match self.engine.run(async move { store.delete(&path).await })? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(ObjectsError::store(url, &error).into()),
        }
    }

    fn count(&self, bytes_read: u64, bytes_written: u64) {
        self.counters.request();
        self.counters.read(bytes_read);
        self.counters.written(bytes_written);
    }
}

#[cfg(test)]
mod tests;
