//! [`Module`]: a loaded module as an analyzer.
//!
//! Loading checks all that can be checked without a document: what is imported, what is exported, how much memory it begins with. A document
//! gets an instance of its own, with a new memory and new fuel, so nothing of one document is seen by the next, on whatever
//! thread; what an instance costs is said in the crate's documentation.

use data_encoding::HEXLOWER;
use mattock_analyze::{AnalyzeError, Analyzer, Document, Kind, Value};
use sha2::{Digest as _, Sha256};
use wasmi::{
    Config, Engine, Error, ExternType, FuncType, Linker, Store, StoreLimits, StoreLimitsBuilder, TrapCode,
    ValType,
};

use crate::ABI_VERSION;
use crate::answer::Answer;
use crate::document::{Needs, Parts};
use crate::error::LoadError;
use crate::host::{Ended, FUNCTIONS, HOST, State, linker};
use crate::limits::{Limits, MODULE_BYTES_MAX, TABLE_ELEMENTS_MAX, TABLES_MAX};

/// What compilers call the function that prepares an instance.
const INITIALIZE: &str = "_initialize";

const PAGE_BYTES: u64 = 1 << 16;

/// See the module. Shared by threads; keeps nothing between documents.
pub struct Module {
    name: String,
    version: String,
    kind: Kind,
    /// The function to call.
    function: String,
    /// There is something to be called before.
    initialize: bool,
    needs: Needs,
    limits: Limits,
    engine: Engine,
    module: wasmi::Module,
    linker: Linker<State>,
}

impl std::fmt::Debug for Module {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = out.debug_struct("Module");
        out.field("name", &self.name).field("kind", &self.kind).field("version", &self.version);
        out.finish_non_exhaustive()
    }
}

impl Module {
    /// The module in `bytes`, as the column `name`.
    pub fn load(name: &str, bytes: &[u8], limits: Limits) -> Result<Module, LoadError> {
        if !is_column_name(name) {
            return Err(LoadError::Name(name.to_owned()));
        }
        limits.check()?;
        if bytes.len() > MODULE_BYTES_MAX {
            return Err(LoadError::TooLarge { bytes: bytes.len(), max: MODULE_BYTES_MAX });
        }
        let invalid = |error: Error| LoadError::Invalid(error.to_string());
        let engine = Engine::new(&config());
        let module = wasmi::Module::new(&engine, bytes).map_err(invalid)?;
        let needs = check_imports(&module)?;
        let (kind, function) = exported_function(&module)?;
        check_memory(&module, limits)?;
        let initialize = has_function(&module, INITIALIZE)?;
        let version = version(bytes, limits, needs);
        let linker = linker(&engine).map_err(invalid)?;
        Ok(Module {
            name: name.to_owned(),
            version,
            kind,
            function,
            initialize,
            needs,
            limits,
            engine,
            module,
            linker,
        })
    }

    fn run(&self, store: &mut Store<State>) -> Result<(), Error> {
        store.set_fuel(self.limits.fuel)?;
        let instance = self.linker.instantiate_and_start(&mut *store, &self.module)?;
        if self.initialize {
            instance.get_typed_func::<(), ()>(&*store, INITIALIZE)?.call(&mut *store, ())?;
        }
        instance.get_typed_func::<(), ()>(&*store, &self.function)?.call(&mut *store, ())
    }

    /// Why a call ended early, for people.
    fn reason(&self, error: &Error) -> AnalyzeError {
        if let Some(Ended(error)) = error.downcast_ref() {
            return error.clone();
        }
        AnalyzeError::Failed(match error.as_trap_code() {
            Some(TrapCode::OutOfFuel) => format!("used up its fuel of {} steps", self.limits.fuel),
            Some(TrapCode::GrowthOperationLimited) => {
                format!("wanted more than {} bytes of memory", self.limits.memory_bytes_max)
            }
            Some(trap) => format!("the module trapped: {trap}"),
            None => format!("the module failed: {error}"),
        })
    }
}

impl Analyzer for Module {
    fn name(&self) -> &str {
        &self.name
    }

    fn version(&self) -> String {
        self.version.clone()
    }

    fn kind(&self) -> Kind {
        self.kind
    }

    fn of_payload(&self) -> bool {
        self.needs.only_payload()
    }

    fn analyze(&self, document: &Document<'_>) -> Result<Value, AnalyzeError> {
        let state = State {
            parts: Parts::of(document, self.needs),
            answer: Answer::new(self.kind, self.limits.answer_bytes_max),
            limits: store_limits(self.limits),
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        match self.run(&mut store) {
            Ok(()) => Ok(store.into_data().answer.into_value()),
            Err(error) => Err(self.reason(&error)),
        }
    }
}

/// What modules may use of the language: what compilers use unasked, and nothing that could differ between machines.
fn config() -> Config {
    let mut config = Config::default();
    config.consume_fuel(true).wasm_multi_memory(false).wasm_custom_page_sizes(false);
    config
}

fn store_limits(limits: Limits) -> StoreLimits {
    StoreLimitsBuilder::new()
        .memory_size(limits.memory_bytes_max)
        .table_elements(TABLE_ELEMENTS_MAX)
        .instances(1)
        .tables(TABLES_MAX)
        .memories(1)
        // Programs do not expect it to fail, and what they do then says little.
        .trap_on_grow_failure(true)
        .build()
}

/// Whether SQL and the Web-in-a-Box language can name it as it is.
pub(crate) fn is_column_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The exported function for columns of `kind`.
fn function_of(kind: Kind) -> String {
    format!("analyze_{}", kind.name().replace(' ', "_"))
}

fn version(bytes: &[u8], limits: Limits, needs: Needs) -> String {
    let mut hash = Sha256::new();
    hash.update(limits.fuel.to_le_bytes());
    hash.update((limits.memory_bytes_max as u64).to_le_bytes());
    hash.update((limits.answer_bytes_max as u64).to_le_bytes());
    hash.update(bytes);
    format!("wasm{ABI_VERSION}_{}{}", HEXLOWER.encode(&hash.finalize()[..12]), needs.versions())
}

fn check_imports(module: &wasmi::Module) -> Result<Needs, LoadError> {
    let mut needs = Needs::default();
    for import in module.imports() {
        let known = FUNCTIONS.iter().find(|(name, ..)| import.module() == HOST && import.name() == *name);
        let Some((name, parameters, results)) = known else {
            return Err(LoadError::UnknownImport {
                module: import.module().to_owned(),
                name: import.name().to_owned(),
                known: FUNCTIONS.map(|(name, ..)| format!("`{HOST}.{name}`")).join(", "),
            });
        };
        let wanted = match import.ty() {
            ExternType::Func(function) => signature(function),
            ExternType::Memory(_) => "a memory".to_owned(),
            ExternType::Table(_) => "a table".to_owned(),
            ExternType::Global(_) => "a global".to_owned(),
        };
        let given = format!("({parameters}) -> ({results})");
        if wanted != given {
            return Err(LoadError::ImportType { name: (*name).to_owned(), wanted, given });
        }
        needs.note(name);
    }
    Ok(needs)
}

fn signature(function: &FuncType) -> String {
    let list = |types: &[ValType]| {
        types.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect::<Vec<_>>().join(", ")
    };
    format!("({}) -> ({})", list(function.params()), list(function.results()))
}

fn has_function(module: &wasmi::Module, name: &str) -> Result<bool, LoadError> {
    match module.get_export(name) {
        None => Ok(false),
        Some(ExternType::Func(function)) if function.params().is_empty() && function.results().is_empty() => {
            Ok(true)
        }
        Some(_) => Err(LoadError::ExportType(name.to_owned())),
    }
}

fn exported_function(module: &wasmi::Module) -> Result<(Kind, String), LoadError> {
    let mut found: Option<(Kind, String)> = None;
    for kind in Kind::ALL {
        let function = function_of(kind);
        if has_function(module, &function)? {
            if let Some((_, other)) = found {
                return Err(LoadError::TwoFunctions(other, function));
            }
            found = Some((kind, function));
        }
    }
    let known = || Kind::ALL.map(|kind| format!("`{}`", function_of(kind))).join(", ");
    found.ok_or_else(|| LoadError::NoFunction { known: known() })
}

fn check_memory(module: &wasmi::Module, limits: Limits) -> Result<(), LoadError> {
    let Some(ExternType::Memory(memory)) = module.get_export("memory") else {
        return Err(LoadError::NoMemory);
    };
    if memory.is_64() {
        return Err(LoadError::Invalid("its memory has addresses of 64 bits".to_owned()));
    }
    let bytes = memory.minimum().saturating_mul(PAGE_BYTES);
    if bytes > limits.memory_bytes_max as u64 {
        return Err(LoadError::Memory { bytes, max: limits.memory_bytes_max });
    }
    Ok(())
}
