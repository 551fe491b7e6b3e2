//! Syntax tree of the design's sources, with only the details that data flow and mutants need.

use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Number,
    /// Unsized literal: `'0` or `'1`.
    Fill,
    Text,
    /// A name, with its package if one is given.
    Name(String),
    Member(Box<Expr>, String),
    Select(Box<Expr>, Select),
    Call(String, Vec<Expr>),
    /// The type or width to cast to is constant and not stored.
    Cast(Box<Expr>),
    Unary(String, Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A choice `condition ? then : otherwise`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Concat(Vec<Expr>),
    /// Operands of a replication. The count is constant and not stored.
    Repeat(Vec<Expr>),
    /// `'{...}`: values of members or elements, with names if given.
    Pattern(Vec<(Option<String>, Expr)>),
    /// A value and the list of its `inside` operator.
    Inside(Box<Expr>, Vec<Expr>),
}

#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) sign: String,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Select {
    One(Box<Expr>),
    /// A constant number of bits, starting at this index.
    From(Box<Expr>),
    Constant,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) span: Range<usize>,
    pub(crate) node: StmtNode,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtNode {
    Block(Vec<Stmt>),
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// Subject and arms of a `case`. An arm without labels is `default`.
    Case(Expr, Vec<(Vec<Expr>, Stmt)>),
    /// Body of a loop. The bounds are constant and not stored.
    For(Box<Stmt>),
    Assign {
        target: Expr,
        /// Assignment operator, such as `=`, `<=` or `+=`.
        sign: String,
        value: Expr,
    },
    Call(Expr),
    Other,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Assign {
        target: Expr,
        value: Expr,
    },
    /// Body of an `always_comb` process.
    Comb(Stmt),
    /// Body of an `always_ff` process.
    Registers(Stmt),
    Function(Function),
    Instance(Instance),
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Port>,
    pub(crate) body: Vec<Stmt>,
}

/// A port of a module, or an argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) name: String,
    pub(crate) direction: Direction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) module: String,
    /// Port and connected expression. None for a connection by name (`.clk_i`).
    pub(crate) connections: Vec<(String, Option<Expr>)>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) item: Item,
    /// True if only the probe needs the item. The probe is not part of the design.
    pub(crate) probe: bool,
}

/// A module or a package.
#[derive(Clone, Debug)]
pub(crate) struct SourceUnit {
    pub(crate) name: String,
    /// Ports in order. Empty for a package.
    pub(crate) ports: Vec<Port>,
    /// Items, including those inside generate blocks.
    pub(crate) items: Vec<Placed>,
    /// Byte at which the items begin, after the header.
    pub(crate) body: usize,
}
