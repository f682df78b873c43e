//! What analyzers answer, put into columns.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryViewBuilder, BooleanBuilder, Float64Builder, Int64Builder, ListBuilder, StringBuilder,
    StringViewBuilder, TimestampMicrosecondBuilder,
};
use mattock_analyze::{Kind, Value};

/// One column under construction.
pub(super) enum ColumnBuilder {
    Text(StringViewBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
    Time(TimestampMicrosecondBuilder),
    TextList(ListBuilder<StringBuilder>),
    IntegerList(ListBuilder<Int64Builder>),
    Bytes(BinaryViewBuilder),
}

impl ColumnBuilder {
    /// A column for values of `kind`; for bytes if there is none.
    pub(super) fn new(kind: Option<Kind>) -> ColumnBuilder {
        match kind {
            None => ColumnBuilder::Bytes(BinaryViewBuilder::new()),
            Some(Kind::Text) => ColumnBuilder::Text(StringViewBuilder::new()),
            Some(Kind::Integer) => ColumnBuilder::Integer(Int64Builder::new()),
            Some(Kind::Float) => ColumnBuilder::Float(Float64Builder::new()),
            Some(Kind::Boolean) => ColumnBuilder::Boolean(BooleanBuilder::new()),
            Some(Kind::Time) => ColumnBuilder::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC")),
            Some(Kind::TextList) => ColumnBuilder::TextList(ListBuilder::new(StringBuilder::new())),
            Some(Kind::IntegerList) => ColumnBuilder::IntegerList(ListBuilder::new(Int64Builder::new())),
        }
    }

    /// Appends a value; refuses one of another kind than the column's.
    pub(super) fn append(&mut self, value: Value) -> Result<(), String> {
        match (&mut *self, value) {
            (ColumnBuilder::Text(builder), Value::Text(text)) => builder.append_value(text),
            (ColumnBuilder::Integer(builder), Value::Integer(integer)) => builder.append_value(integer),
            (ColumnBuilder::Float(builder), Value::Float(float)) => builder.append_value(float),
            (ColumnBuilder::Boolean(builder), Value::Boolean(boolean)) => builder.append_value(boolean),
            (ColumnBuilder::Time(builder), Value::Time(time)) => builder.append_value(time),
            (ColumnBuilder::TextList(builder), Value::TextList(texts)) => {
                builder.append_value(texts.into_iter().map(Some))
            }
            (ColumnBuilder::IntegerList(builder), Value::IntegerList(list)) => {
                builder.append_value(list.into_iter().map(Some))
            }
            (_, Value::Null) => self.append_null(),
            _ => return Err("an answer of another kind than the column's".to_string()),
        }
        Ok(())
    }

    /// Appends the bytes of a document.
    pub(super) fn append_bytes(&mut self, bytes: &[u8]) {
        match self {
            ColumnBuilder::Bytes(builder) => builder.append_value(bytes),
            _ => self.append_null(),
        }
    }

    /// Appends that nothing is known.
    pub(super) fn append_null(&mut self) {
        match self {
            ColumnBuilder::Text(builder) => builder.append_null(),
            ColumnBuilder::Integer(builder) => builder.append_null(),
            ColumnBuilder::Float(builder) => builder.append_null(),
            ColumnBuilder::Boolean(builder) => builder.append_null(),
            ColumnBuilder::Time(builder) => builder.append_null(),
            ColumnBuilder::TextList(builder) => builder.append_null(),
            ColumnBuilder::IntegerList(builder) => builder.append_null(),
            ColumnBuilder::Bytes(builder) => builder.append_null(),
        }
    }

    /// The column.
    pub(super) fn finish(mut self) -> ArrayRef {
        match &mut self {
            ColumnBuilder::Text(builder) => Arc::new(builder.finish()),
            ColumnBuilder::Integer(builder) => Arc::new(builder.finish()),
            ColumnBuilder::Float(builder) => Arc::new(builder.finish()),
            ColumnBuilder::Boolean(builder) => Arc::new(builder.finish()),
            ColumnBuilder::Time(builder) => Arc::new(builder.finish()),
            ColumnBuilder::TextList(builder) => Arc::new(builder.finish()),
            ColumnBuilder::IntegerList(builder) => Arc::new(builder.finish()),
            ColumnBuilder::Bytes(builder) => Arc::new(builder.finish()),
        }
    }
}
