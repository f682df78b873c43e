//! Which columns there are, and where each comes from.
//!
//! The index has columns; a few have a second name (the paper's); the history of a URL gives some, and the page that linked to it gives
//! one; some were computed from all pages together; everything else is computed from the document by an analyzer, when asked for. There is no end of computed columns (`http_` with
//! any header), so a query's table has those that the query names.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, SchemaRef, TimeUnit};
use mattock_analyze::{Analyzer, Kind, built_in, built_ins};

use crate::by_url::{ByUrl, KINDS, Kind as ByUrlKind, URL_KEY};
use crate::history::History;
use crate::insertion::INSERTION_TIME;
use crate::metadata::MetadataTable;
use crate::via;

/// Second names of columns of the index: those of the paper, and short ones.
const ALIASES: [(&str, &str); 10] = [
    ("name", "url"),
    ("insertionDate", INSERTION_TIME),
    // Where nobody has written down when documents were inserted.
    ("insertionDate", "fetch_time"),
    ("type", "content_mime_type"),
    ("size", "warc_record_length"),
    ("status", "fetch_status"),
    ("host", "url_host_name"),
    // These two are analyzers as well, but what they would compute is in the index already.
    ("domain", "url_host_registered_domain"),
    ("surt", "url_surtkey"),
    ("date", "fetch_time"),
];

/// A column that the index has a place for, and values unless a crawl or an import was told not to look for languages, or is older than that.
/// Where some are missing, all are computed when a query names it, and can be kept.
const LANGUAGES: &str = "content_languages";

/// Computed columns whose texts and lists are no longer than a URL or so.
const SHORT: [&str; 8] =
    ["charset", "content_languages", "digest", "domain", "language", "languages", "surt", "title"];

/// The bytes of a document as they are, for files and for what is no text.
pub(crate) const BODY: &str = "body";

/// Where a column's values come from.
#[derive(Clone)]
pub(crate) enum Origin {
    /// The index has it.
    Index,
    /// The index has it by this name.
    Alias(String),
    /// The other instances of the URL say.
    History(History),
    /// The row of the page that links to it says.
    Via,
    /// These values by URL.
    ByUrl(Arc<MetadataTable>),
    /// The document's bytes.
    Body,
    /// Computed from the document.
    Analyzer(Arc<dyn Analyzer>),
    /// Why the computed column before this one has no value; this text if the document could not be read. No query can name it.
    FailureOfLast(&'static str),
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Index => formatter.write_str("index"),
            Origin::Alias(name) => write!(formatter, "alias of {name}"),
            Origin::History(_) => formatter.write_str("history"),
            Origin::Via => formatter.write_str("via"),
            Origin::ByUrl(_) => formatter.write_str("by URL"),
            Origin::FailureOfLast(_) => formatter.write_str("failure"),
            Origin::Body => formatter.write_str("body"),
            Origin::Analyzer(analyzer) => write!(formatter, "analyzer {}", analyzer.version()),
        }
    }
}

/// A column that was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// Its name and type.
    pub(crate) field: Field,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

impl Column {
    /// Whether an archive must be opened for it.
    pub(crate) fn is_computed(&self) -> bool {
        matches!(self.origin, Origin::Body | Origin::Analyzer(_) | Origin::FailureOfLast(_))
    }

    /// Whether a value may take as much as a document.
    pub(crate) fn is_wide(&self) -> bool {
        let Origin::Analyzer(analyzer) = &self.origin else { return matches!(self.origin, Origin::Body) };
        match analyzer.kind() {
            Kind::TextList | Kind::IntegerList => !SHORT.contains(&analyzer.name()),
            Kind::Text => !SHORT.contains(&analyzer.name()) && !analyzer.name().starts_with("http_"),
            Kind::Integer | Kind::Float | Kind::Boolean | Kind::Time => false,
        }
    }
}

/// All that can be asked for.
#[derive(Clone)]
pub(crate) struct Columns {
    index: SchemaRef,
    own: BTreeMap<String, Arc<dyn Analyzer>>,
    by_url: Option<ByUrl>,
    /// Whether the index has the languages of all documents.
    languages: bool,
}

impl Columns {
    /// Columns of the index, and of analyzers that the user brought; theirs come before those built in.
    pub(crate) fn new(index: SchemaRef, own: &[Arc<dyn Analyzer>]) -> Columns {
        Columns {
            index,
            own: own.iter().map(|analyzer| (analyzer.name().to_string(), analyzer.clone())).collect(),
            by_url: None,
            languages: false,
        }
    }

    /// The same with columns by URL.
    pub(crate) fn with_by_url(self, by_url: ByUrl) -> Columns {
        let known = self.index.field_with_name(URL_KEY).is_ok();
        Columns { by_url: known.then_some(by_url), ..self }
    }

    /// The same with the languages of the index, if it has all of them.
    pub(crate) fn with_languages(self, languages: bool) -> Columns {
        Columns { languages, ..self }
    }

    /// Whether the user brought the analyzer for this column.
    pub(crate) fn is_own(&self, name: &str) -> bool {
        self.own.contains_key(name)
    }

    /// Those that are by URL.
    pub(crate) fn by_url(&self) -> Option<&ByUrl> {
        self.by_url.as_ref()
    }

    /// The columns of the index.
    pub(crate) fn index(&self) -> &SchemaRef {
        &self.index
    }

    /// The column of this name.
    pub(crate) fn find(&self, name: &str) -> Option<Column> {
        if name == LANGUAGES && !self.languages && !self.own.contains_key(name) {
            return built_in(name).map(analyzed);
        }
        if let Ok(field) = self.index.field_with_name(name) {
            return Some(Column { field: field.clone(), origin: Origin::Index });
        }
        if let Some(analyzer) = self.own.get(name) {
            return Some(analyzed(analyzer.clone()));
        }
        let of_index = |(alias, base): &(&str, &str)| {
            (*alias == name).then(|| self.index.field_with_name(base).ok()).flatten()
        };
        if let Some(field) = ALIASES.iter().find_map(of_index) {
            return Some(Column {
                field: field.clone().with_name(name),
                origin: Origin::Alias(field.name().clone()),
            });
        }
        if let Some(history) = History::find(name) {
            return Some(Column { field: history.field(), origin: Origin::History(history) });
        }
        if name == via::VIA
            && let Some(field) = via::field(&self.index)
        {
            return Some(Column { field, origin: Origin::Via });
        }
        if let Some(kind) = ByUrlKind::find(name) {
            let values = self.by_url.as_ref()?.open(kind)?;
            return Some(Column { field: kind.field(), origin: Origin::ByUrl(values) });
        }
        if name == BODY {
            return Some(Column {
                field: Field::new(BODY, DataType::BinaryView, true),
                origin: Origin::Body,
            });
        }
        built_in(name).map(analyzed)
    }

    /// The column that SQL means by a name in small letters.
    pub(crate) fn find_lowercase(&self, name: &str) -> Option<Column> {
        self.find(name).or_else(|| {
            let (alias, _) = ALIASES.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name))?;
            let column = self.find(alias)?;
            Some(Column { field: column.field.with_name(name), ..column })
        })
    }

    /// The names there are, for advice. Of `http_` the common headers.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.index.fields().iter().map(|field| field.name().clone()).collect();
        names.extend(self.own.keys().cloned());
        names.extend(ALIASES.iter().map(|(alias, _)| (*alias).to_string()));
        names.dedup();
        names.extend(History::ALL.iter().map(|history| history.name().to_string()));
        names.extend(via::field(&self.index).map(|field| field.name().clone()));
        names.extend(KINDS.iter().filter(|_| self.by_url.is_some()).map(|kind| kind.name.to_string()));
        names.extend(built_ins().iter().map(|analyzer| analyzer.name().to_string()));
        names.push(BODY.to_string());
        names.extend(
            ["http_content_type", "http_server", "http_last_modified", "http_location"].map(str::to_string),
        );
        names
    }
}

/// Whether every repository has a column of this name, in SQL or in the other language. Whoever loads analyzers asks this, so that none
/// hides what is there.
pub fn is_taken(index: &SchemaRef, name: &str) -> bool {
    Columns::new(index.clone(), &[]).find_lowercase(name).is_some() || ByUrlKind::find(name).is_some()
}

fn analyzed(analyzer: Arc<dyn Analyzer>) -> Column {
    let field = Field::new(analyzer.name(), data_type(analyzer.kind()), true);
    Column { field, origin: Origin::Analyzer(analyzer) }
}

/// The type of a column that an analyzer computes.
pub(crate) fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8View,
        Kind::Integer => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Boolean => DataType::Boolean,
        Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        Kind::TextList => DataType::new_list(DataType::Utf8, true),
        Kind::IntegerList => DataType::new_list(DataType::Int64, true),
    }
}
