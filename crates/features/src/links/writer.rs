//! Writes one direction of the links, from pairs in order.

use std::io::BufWriter;
use std::path::{Path, PathBuf};

use dsi_bitstream::impls::{BufBitWriter, WordAdapter};
use dsi_bitstream::traits::BE;
use mattock_codec::put_varint;
use mattock_env::Files;
use serde::{Deserialize, Serialize};
use webgraph::prelude::{BvComp, CompFlags, ConstCodesEncoder, OffsetsWriter};

use crate::error::{FeaturesError, Result};
use crate::output::{Output, Written};

type Encoder = ConstCodesEncoder<BE, BufBitWriter<BE, WordAdapter<usize, BufWriter<Output>>>>;

/// The files of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LinkFiles {
    pub(crate) nodes: u64,
    pub(crate) arcs: u64,
    /// Bits of all lists.
    pub(crate) bits: u64,
    pub(crate) graph: Written,
    pub(crate) offsets: Written,
    pub(crate) properties: Written,
    /// How long each list is, as varints.
    pub(crate) degrees: Written,
}

pub(crate) struct LinkWriter {
    files: Files,
    base: PathBuf,
    graph: Output,
    offsets: Output,
    degrees: Output,
    coder: BvComp<Encoder, Output>,
    nodes: u64,
    /// The node whose list is being filled.
    node: u64,
    list: Vec<usize>,
    degree: Vec<u8>,
}

impl LinkWriter {
    /// For `nodes` nodes; `base` is the path without an extension.
    pub(crate) fn create(files: &Files, base: &Path, nodes: u64) -> Result<LinkWriter> {
        let graph = Output::create(files, &base.with_extension("graph"))?;
        let offsets = Output::create(files, &base.with_extension("offsets"))?;
        let degrees = Output::create(files, &base.with_extension("degrees"))?;
        let flags = CompFlags::default();
        let bits = BufBitWriter::new(WordAdapter::new(BufWriter::new(graph.clone())));
        let coder = BvComp::new(
            ConstCodesEncoder::new(bits),
            OffsetsWriter::from_write(offsets.clone(), true).map_err(|error| refused(base, error))?,
            flags.compression_window,
            flags.max_ref_count,
            flags.min_interval_length,
            0,
            (),
        );
        let (files, base, list, degree) = (files.clone(), base.to_path_buf(), Vec::new(), Vec::new());
        Ok(LinkWriter { files, base, graph, offsets, degrees, coder, nodes, node: 0, list, degree })
    }

    /// Appends a link. They come in order; one that was there before is left out.
    #[inline]
    pub(crate) fn push(&mut self, source: u64, target: u64) -> Result<()> {
        while self.node < source {
            self.end_list()?;
        }
        let target = target as usize;
        if self.list.last() != Some(&target) {
            self.list.push(target);
        }
        Ok(())
    }

    fn end_list(&mut self) -> Result<()> {
        self.degree.clear();
        put_varint(&mut self.degree, self.list.len() as u64);
        self.degrees.put(&self.degree)?;
        let pushed = self.coder.push(self.list.drain(..).map(|target| (target, ())));
        pushed.map_err(|error| refused(&self.base, error))?;
        self.node += 1;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<LinkFiles> {
        while self.node < self.nodes {
            self.end_list()?;
        }
        let stats = self.coder.flush().map_err(|error| refused(&self.base, error))?;
        let properties = Output::create(&self.files, &self.base.with_extension("properties"))?;
        let text =
            CompFlags::default().to_properties::<BE>(&stats).map_err(|error| refused(&self.base, error))?;
        properties.put(text.as_bytes())?;
        Ok(LinkFiles {
            nodes: self.nodes,
            arcs: stats.num_arcs,
            bits: stats.written_bits,
            graph: self.graph.finish()?,
            offsets: self.offsets.finish()?,
            properties: properties.finish()?,
            degrees: self.degrees.finish()?,
        })
    }
}

pub(super) fn refused(base: &Path, error: impl std::fmt::Display) -> FeaturesError {
    FeaturesError::Links { path: base.with_extension("graph"), what: format!("{error:#}") }
}
