//! What a new analyzer begins with: a project that can be built and asked with as it is, to be changed.
//!
//! The texts are in `template/`, where they can be read as what they are.

use crate::error::LoadError;
use crate::module::is_column_name;

/// The language of a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// A crate without dependencies.
    Rust,
    /// One file.
    C,
}

/// A file of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    /// Its name within the project's directory.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The files of a project for the column `name`.
pub fn template(name: &str, language: Language) -> Result<Vec<TemplateFile>, LoadError> {
    if !is_column_name(name) {
        return Err(LoadError::Name(name.to_owned()));
    }
    let file =
        |file: &str, text: &str| TemplateFile { name: file.to_owned(), text: text.replace("NAME", name) };
    Ok(match language {
        Language::Rust => vec![
            file("Cargo.toml", include_str!("../template/analyzer.toml")),
            file("lib.rs", include_str!("../template/analyzer.rs")),
        ],
        Language::C => vec![file(&format!("{name}.c"), include_str!("../template/analyzer.c"))],
    })
}
