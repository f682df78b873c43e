//! What goes in, and what comes out.

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Is the key stored, and with which value?
    Check,
    /// Store the value.
    Update,
    /// Both, in this order, as one step.
    CheckUpdate,
}

/// Operations to submit together. They are taken in this order, all or none of them.
#[derive(Clone, Debug)]
pub struct Batch<V> {
    pub(crate) keys: Vec<u64>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) values: Vec<Option<V>>,
    pub(crate) aux: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl<V> Default for Batch<V> {
    fn default() -> Batch<V> {
        Batch {
            keys: Vec::new(),
            operations: Vec::new(),
            values: Vec::new(),
            aux: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl<V> Batch<V> {
    /// Nothing yet.
    pub fn new() -> Batch<V> {
        Batch::default()
    }

    /// Asks for a key. `aux` comes back with the answer.
    pub fn check(&mut self, key: u64, aux: &[u8]) {
        self.push(key, Operation::Check, None, aux);
    }

    /// Stores a value; nothing comes back.
    pub fn update(&mut self, key: u64, value: V) {
        self.push(key, Operation::Update, Some(value), &[]);
    }

    /// Asks for a key, then stores a value.
    pub fn check_update(&mut self, key: u64, value: V, aux: &[u8]) {
        self.push(key, Operation::CheckUpdate, Some(value), aux);
    }

    /// How many operations.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.operations.clear();
        self.values.clear();
        self.aux.clear();
        self.ends.clear();
    }

    pub(crate) fn aux(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.aux[start..self.ends[index]]
    }

    fn push(&mut self, key: u64, operation: Operation, value: Option<V>, aux: &[u8]) {
        self.keys.push(key);
        self.operations.push(operation);
        self.values.push(value);
        self.aux.extend_from_slice(aux);
        self.ends.push(self.aux.len());
    }
}

/// The answer to one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome<'a, V> {
    /// Whether the key was not stored when its turn came.
    pub unique: bool,
    /// What was stored. `None` for unique keys.
    pub value: Option<V>,
    /// What was submitted with the check.
    pub aux: &'a [u8],
}
