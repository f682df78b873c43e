//! `mattock graph kendall`: whether two rankings put URLs into the same order.
//!
//! A ranking is a column that was kept, or a file of lines `URL<TAB>value`. Both become values by fingerprint; those that are in both are
//! compared.

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Context, anyhow};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use bytes::Bytes;
use mattock_env::{Env, Panics};
use mattock_features::Features;
use mattock_graph::kendall_tau;
use mattock_query::check_values;
use mattock_study::column_path;
use mattock_weburl::WebUrl;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::opened;
use crate::args::graph::KendallArgs;
use crate::exit::{Ended, Usage, read_named};
use crate::places;
use crate::rows::{Cell, Kind, Rows};

/// Values by fingerprint, in the order of fingerprints, each once.
type Ranking = Vec<(i64, f64)>;

pub(super) fn run(env: &Env, args: &KendallArgs) -> anyhow::Result<Ended> {
    let features = opened::features(env, &args.dir)?;
    let (one, other) = (ranking(env, &features, &args.one)?, ranking(env, &features, &args.other)?);
    let (values, others) = joined(&one, &other);
    let in_both = values.len();
    let Some(tau) = kendall_tau(&values, &others) else {
        let why = match in_both {
            0 | 1 => "fewer than two URLs are in both",
            _ => "one of them gives all URLs the same value, or a value is no number",
        };
        return Err(Usage(format!("{} and {} cannot be compared: {why}", args.one, args.other)).into());
    };
    let columns = [
        ("a", Kind::Text),
        ("b", Kind::Text),
        ("in_both", Kind::Integer),
        ("only_a", Kind::Integer),
        ("only_b", Kind::Integer),
        ("kendall_tau", Kind::Float),
    ];
    let mut rows = Rows::begin(&args.rows, &columns)?;
    rows.push(&[
        Cell::Text(&args.one),
        Cell::Text(&args.other),
        Cell::count(in_both as u64),
        Cell::count((one.len() - in_both) as u64),
        Cell::count((other.len() - in_both) as u64),
        Cell::Float(tau),
    ])?;
    rows.finish()?;
    Ok(Ended::Done)
}

/// The values of what is in both, in one order.
fn joined(one: &Ranking, other: &Ranking) -> (Vec<f64>, Vec<f64>) {
    let (mut values, mut others) = (Vec::new(), Vec::new());
    let (mut at, mut at_other) = (0, 0);
    while let (Some((key, value)), Some((other_key, other_value))) = (one.get(at), other.get(at_other)) {
        let order = key.cmp(other_key);
        if order == Ordering::Equal {
            values.push(*value);
            others.push(*other_value);
        }
        at += usize::from(order != Ordering::Greater);
        at_other += usize::from(order != Ordering::Less);
    }
    (values, others)
}

fn ranking(env: &Env, features: &Features, name: &str) -> anyhow::Result<Ranking> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_name && let Some(ranking) = kept(env, features, name)? {
        return Ok(ranking);
    }
    let path = Path::new(name);
    if places::named().entry(path).ok().flatten().is_some() {
        return from_file(path);
    }
    let columns = env.files.list(&features.dir().join("columns")).unwrap_or_default().into_iter();
    let mut names: Vec<String> =
        columns.filter_map(|entry| entry.name.strip_suffix(".parquet").map(str::to_owned)).collect();
    names.sort();
    let known = match names.is_empty() {
        true => "no column is kept yet: `mattock graph pagerank` keeps one".to_owned(),
        false => format!("kept are {}", names.join(", ")),
    };
    Err(Usage(format!("{name} is neither a column that was kept nor a file; {known}")).into())
}

fn kept(env: &Env, features: &Features, name: &str) -> anyhow::Result<Option<Ranking>> {
    let path = column_path(features, name);
    let bytes = match env.files.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let read = || -> anyhow::Result<Ranking> {
        let mut ranking = Vec::new();
        for batch in ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes))?.build()? {
            append(&mut ranking, &batch?).context("it has not the columns `url_key` and `value`")?;
        }
        ranking.sort_unstable_by_key(|(key, _)| *key);
        Ok(ranking)
    };
    let checked = || {
        check_values(&env.files, &path)?;
        read()
    };
    let read =
        Panics::default().contain(checked).unwrap_or_else(|panic| Err(anyhow!("it is damaged: {panic}")));
    read.map(Some).with_context(|| format!("cannot read {}", path.display()))
}

fn append(ranking: &mut Ranking, batch: &RecordBatch) -> Option<()> {
    let keys = batch.column_by_name("url_key")?.as_primitive_opt::<Int64Type>()?;
    let values = batch.column_by_name("value")?;
    let value: Box<dyn Fn(usize) -> f64> = match values.data_type() {
        DataType::Int64 => {
            let values = values.as_primitive::<Int64Type>().clone();
            Box::new(move |row| values.value(row) as f64)
        }
        DataType::Float64 => {
            let values = values.as_primitive::<Float64Type>().clone();
            Box::new(move |row| values.value(row))
        }
        _ => return None,
    };
    let valid = (0..batch.num_rows()).filter(|row| keys.is_valid(*row) && values.is_valid(*row));
    ranking.extend(valid.map(|row| (keys.value(row), value(row))));
    Some(())
}

fn from_file(path: &Path) -> anyhow::Result<Ranking> {
    let text = read_named(path)?;
    let wrong = |line: usize, what: &str| Usage(format!("{}, line {line}: {what}", path.display()));
    let mut found: Vec<(i64, f64, usize)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let (url, value) =
            line.split_once('\t').ok_or_else(|| wrong(number, "there is no tab between URL and value"))?;
        let url = WebUrl::parse(url).map_err(|error| wrong(number, &error.to_string()))?;
        let value = value.trim().parse().map_err(|_| wrong(number, "the value is no number"))?;
        found.push((url.fingerprint().0 as i64, value, number));
    }
    found.sort_unstable_by_key(|(key, _, number)| (*key, *number));
    if let Some(pair) = found.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(wrong(pair[1].2, &format!("the URL was in line {} already", pair[0].2)).into());
    }
    Ok(found.into_iter().map(|(key, value, _)| (key, value)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_both_is_compared() {
        let one = vec![(-5, 1.0), (2, 2.0), (7, 3.0)];
        let other = vec![(-6, 9.0), (-5, 8.0), (7, 7.0), (8, 6.0)];
        assert_eq!(joined(&one, &other), (vec![1.0, 3.0], vec![8.0, 7.0]));
        assert_eq!(joined(&Vec::new(), &other), (vec![], vec![]));
    }
}
