//! Why a module cannot be loaded. What it does wrong with a document later is an `AnalyzeError`, for that document only.

/// See the module. Messages say what to do about it; whoever loads a file puts its path before them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The column could not be named in a query.
    #[error(
        "`{0}` cannot be a column's name: it begins with a small letter, and has small letters, digits and underscores"
    )]
    Name(String),
    /// The bytes are no module, or one with something that is not supported.
    #[error("this is no WebAssembly module that can be run here: {0}")]
    Invalid(String),
    /// More bytes than a module may have.
    #[error("the module has {bytes} bytes; at most {max} are loaded")]
    TooLarge {
        /// So many it has.
        bytes: usize,
        /// So many are allowed.
        max: usize,
    },
    /// It wants something that there is not.
    #[error(
        "the module imports `{module}.{name}`, which there is not: analyzers see the document and nothing else; there are {known}"
    )]
    UnknownImport {
        /// The module it wants it of.
        module: String,
        /// What it wants.
        name: String,
        /// What it could have.
        known: String,
    },
    /// It takes a function for another than it is.
    #[error("the module imports `mattock.{name}` as {wanted}, but it is {given}")]
    ImportType {
        /// The function.
        name: String,
        /// What the module says that it is.
        wanted: String,
        /// What it is.
        given: String,
    },
    /// Nothing says what to call, or what comes of it.
    #[error("the module exports no function that computes a column: it must have one of {known}")]
    NoFunction {
        /// What would be one.
        known: String,
    },
    /// It is not clear what to call.
    #[error("the module exports both `{0}` and `{1}`: a module computes one column")]
    TwoFunctions(String, String),
    /// An exported function takes or gives something.
    #[error(
        "the exported function `{0}` must take no parameters and return nothing: values are given by calls"
    )]
    ExportType(String),
    /// Documents have no place to go to.
    #[error("the module exports no memory by the name `memory`")]
    NoMemory,
    /// It begins with more memory than it may have.
    #[error("the module begins with {bytes} bytes of memory, but may have {max}: raise the limit")]
    Memory {
        /// So many it begins with.
        bytes: u64,
        /// So many are allowed.
        max: usize,
    },
    /// More steps are asked for than a document may ever take.
    #[error(
        "{steps} steps for one document are more than the {max} that a module can be given: lower the limit of fuel"
    )]
    FuelLimit {
        /// So many are asked for.
        steps: u64,
        /// So many are allowed.
        max: u64,
    },
    /// More memory is asked for than a module may ever have.
    #[error(
        "{bytes} bytes of memory are more than the {max} that a module can be given: lower the limit of memory"
    )]
    MemoryLimit {
        /// So many are asked for.
        bytes: usize,
        /// So many are allowed.
        max: usize,
    },
}
