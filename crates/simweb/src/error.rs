//! What can be wrong with what the caller gives.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum SimwebError {
    /// There is no preset with this name.
    #[error("there is no preset `{0}`: use tiny, small, large, huge or spam")]
    UnknownPreset(String),
    /// The parameter file cannot be read as TOML, or has a key that does not exist.
    #[error("the world's parameters are not valid: {0}")]
    Toml(String),
    /// A parameter makes no sense.
    #[error("the world's parameter `{field}` {problem}")]
    Parameter {
        /// Which one.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}
