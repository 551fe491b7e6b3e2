//! Control-flow graph of a function: basic blocks, dominators, loops.

use fixedbitset::FixedBitSet;
use petgraph::Direction::Incoming;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef, Reversed};

use crate::ptx::{Function, LabelId, Operand, PtxInstruction};

/// Maximum number of basic blocks. Functions with more get no reconvergence points, because the analysis
/// takes time and memory quadratic in the number of blocks.
const MOST_BLOCKS: usize = 2048;

pub(crate) type Blocks = FixedBitSet;

/// A basic block: control enters at the first instruction and leaves after the last.
pub(crate) struct Block {
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// Indices of the successor blocks. The index `blocks.len()` is the end of the thread.
    pub(crate) next: Vec<usize>,
}

/// A natural loop: the blocks from which control reaches the header again without leaving the loop.
pub(crate) struct Loop {
    pub(crate) header: usize,
    pub(crate) blocks: Blocks,
}

pub(crate) struct Graph {
    pub(crate) blocks: Vec<Block>,
    pub(crate) block_of: Vec<usize>,
    /// Control-flow edges between blocks. The last node is the end of the thread.
    ways: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
    /// Post-dominators, computed as dominators of the reversed graph from the end of the thread. The
    /// immediate post-dominator of a block is its reconvergence point. Blocks from which the end cannot be
    /// reached (`trap`, endless loops) are ignored, so threads do not wait for threads that branch there.
    reconvergence_points: Dominators<NodeIndex>,
    pub(crate) loops: Vec<Loop>,
    /// True if a loop has several entries, or if the function has too many blocks for the analysis.
    pub(crate) irreducible: bool,
}

/// Returns the branch targets of an instruction. `None` for an instruction that is not a branch.
pub(crate) fn targets(function: &Function<'_>, instruction: &PtxInstruction<'_>) -> Option<Vec<usize>> {
    let at = |label: &LabelId| function.labels.get(label.0 as usize).map(|l| l.at as usize);
    match instruction.opcode {
        "bra" | "brx" => {
            let mut found = Vec::new();
            for operand in &instruction.operands {
                match operand {
                    Operand::Label(label) => found.extend(at(label)),
                    Operand::Targets(table) => {
                        let table = function.branch_targets.get(*table as usize);
                        found.extend(table.into_iter().flatten().filter_map(at));
                    }
                    _ => {}
                }
            }
            Some(found)
        }
        "exit" | "ret" | "trap" => Some(Vec::new()),
        _ => None,
    }
}

impl Graph {
    pub(crate) fn new(function: &Function<'_>) -> Graph {
        let instructions = &function.instructions;
        let count = instructions.len();
        let mut leader = vec![false; count + 1];
        leader[0] = true;
        for (i, instruction) in instructions.iter().enumerate() {
            if let Some(targets) = targets(function, instruction) {
                leader[i + 1] = true;
                targets.into_iter().for_each(|t| leader[t.min(count)] = true);
            }
        }
        let firsts: Vec<usize> = (0..count).filter(|i| leader[*i]).collect();
        let mut block_of = vec![0; count + 1];
        let mut number = 0;
        for (i, block) in block_of.iter_mut().enumerate().take(count) {
            number += usize::from(leader[i]);
            *block = number - 1;
        }
        block_of[count] = firsts.len();
        let blocks: Vec<Block> = firsts
            .iter()
            .enumerate()
            .map(|(b, first)| {
                let end = firsts.get(b + 1).copied().unwrap_or(count);
                let last = &instructions[end - 1];
                let mut next: Vec<usize> = match targets(function, last) {
                    None => Vec::new(),
                    Some(targets) => targets.into_iter().map(|t| block_of[t.min(count)]).collect(),
                };
                let falls = last.guard.is_some() || targets(function, last).is_none();
                if falls {
                    next.push(block_of[end]);
                } else if last.opcode == "ret" || last.opcode == "exit" {
                    next.push(firsts.len());
                }
                next.sort_unstable();
                next.dedup();
                Block { first: *first, end, next }
            })
            .collect();
        let too_many = blocks.len() > MOST_BLOCKS;
        let mut ways = DiGraph::new();
        (0..=blocks.len()).for_each(|_| _ = ways.add_node(()));
        if !too_many {
            let each =
                blocks.iter().enumerate().flat_map(|(from, b)| b.next.iter().map(move |to| (from, *to)));
            ways.extend_with_edges(each.map(|(from, to)| (NodeIndex::new(from), NodeIndex::new(to))));
        }
        let mut graph = Graph {
            dominators: simple_fast(&ways, NodeIndex::new(0)),
            reconvergence_points: simple_fast(Reversed(&ways), NodeIndex::new(blocks.len())),
            loops: Vec::new(),
            irreducible: too_many,
            ways,
            blocks,
            block_of,
        };
        if !too_many {
            graph.find_loops();
        }
        graph
    }

    pub(crate) fn reached(&self, block: usize) -> bool {
        self.dominators.dominators(NodeIndex::new(block)).is_some()
    }

    pub(crate) fn depth(&self, block: usize) -> usize {
        self.dominators.strict_dominators(NodeIndex::new(block)).map_or(0, Iterator::count)
    }

    /// Returns the reconvergence point of threads that diverge at the end of a block: the first block that
    /// each of them reaches, unless it ends before. `None` if there is no such block.
    pub(crate) fn reconvergence_point(&self, block: usize) -> Option<usize> {
        let reconvergence_point = self.reconvergence_points.immediate_dominator(NodeIndex::new(block))?;
        Some(reconvergence_point.index()).filter(|m| *m != self.blocks.len())
    }

    pub(crate) fn dominates(&self, a: usize, b: usize) -> bool {
        let mut all = self.dominators.dominators(NodeIndex::new(b)).into_iter().flatten();
        all.any(|block| block.index() == a)
    }

    fn find_loops(&mut self) {
        let count = self.blocks.len();
        let mut loops: Vec<Loop> = Vec::new();
        for (from, b) in self.blocks.iter().enumerate() {
            for header in b.next.iter().copied().filter(|header| self.dominates(*header, from)) {
                let mut blocks = Blocks::with_capacity(count);
                blocks.insert(header);
                let mut left = vec![from];
                while let Some(block) = left.pop() {
                    if !blocks.put(block) {
                        let before = self.ways.neighbors_directed(NodeIndex::new(block), Incoming);
                        left.extend(before.map(NodeIndex::index).filter(|block| self.reached(*block)));
                    }
                }
                match loops.iter_mut().find(|l| l.header == header) {
                    Some(same) => same.blocks.union_with(&blocks),
                    None => loops.push(Loop { header, blocks }),
                }
            }
        }
        loops.sort_by_key(|l| l.blocks.count_ones(..));
        // A graph whose loops are all natural is acyclic without their back edges. If it is not acyclic, a
        // loop has several entries.
        let forward = EdgeFiltered::from_fn(&self.ways, |way| {
            let (from, to) = (way.source().index(), way.target().index());
            self.reached(from) && !self.dominates(to, from)
        });
        self.irreducible = toposort(&forward, None).is_err();
        self.loops = loops;
    }

    pub(crate) fn innermost(&self, block: usize) -> Option<usize> {
        self.loops.iter().position(|l| l.blocks.contains(block))
    }

    pub(crate) fn outer(&self, number: usize) -> Option<usize> {
        let header = self.loops[number].header;
        let around = |(n, l): (usize, &Loop)| n > number && l.header != header && l.blocks.contains(header);
        self.loops.iter().enumerate().position(around)
    }

    pub(crate) fn goes_round(&self, from: usize, to: usize) -> bool {
        self.loops.iter().any(|l| l.header == to && l.blocks.contains(from))
    }

    /// Returns the blocks that control can reach after `from` and before it reaches `to`. Without `to`, all
    /// blocks that it can reach after `from`.
    pub(crate) fn between(&self, from: usize, to: Option<usize>) -> Blocks {
        let count = self.blocks.len();
        let mut found = Blocks::with_capacity(count);
        let mut left = vec![from];
        while let Some(block) = left.pop() {
            let next = self.blocks.get(block).map_or(&[][..], |b| &b.next);
            for n in next.iter().copied().filter(|n| *n < count && Some(*n) != to) {
                if !found.put(n) {
                    left.push(n);
                }
            }
        }
        found
    }
}
