//! `mattock columns`: what a query can ask for.

use crate::args::repository::ColumnsArgs;
use crate::exit::Ended;
use crate::rows::{Cell, Kind, Rows};

pub(crate) fn run(args: &ColumnsArgs) -> anyhow::Result<Ended> {
    let names = ["column_name", "data_type", "read_from", "description"];
    let mut rows = Rows::begin(&args.rows, &names.map(|name| (name, Kind::Text)))?;
    for column in mattock_query::described(&mattock_index::schema()) {
        let cells = [column.name.as_str(), &column.data_type, column.read_from, &column.about];
        rows.push(&cells.map(Cell::Text))?;
    }
    rows.finish()?;
    Ok(Ended::Done)
}
