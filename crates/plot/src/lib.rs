//! What results are shown with: charts, and a page.
//!
//! - [`chart`] turns numbers into SVG, with nothing but `std`.
//! - [`report`] puts charts, tables and figures on one self-contained HTML page.
//! - [`mod@format`] writes numbers the way people read them; both of the above use it.
//! - [`markup`] checks, in tests, what comes out.
//!
//! All of it is pure: values in, text out. The same values give the same bytes, and no value, however odd
//! (empty, not a number, huge, or a label that is itself markup), makes them panic or breaks the markup.

pub mod chart;
pub mod format;
pub mod markup;
pub mod report;
