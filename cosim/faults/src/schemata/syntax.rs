//! What the design's sources consist of, as far as data flow and operators need it.

use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    /// Bytes of the source.
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    /// A literal with a value.
    Number,
    /// `'0` or `'1`.
    Fill,
    Text,
    /// A name, perhaps of a package.
    Name(String),
    /// A member of a structure.
    Member(Box<Expr>, String),
    /// One element or bit, or a range of them.
    Select(Box<Expr>, Select),
    /// A call of a function.
    Call(String, Vec<Expr>),
    /// A cast; what it is cast to is constant.
    Cast(Box<Expr>),
    /// A sign before an operand.
    Unary(String, Box<Expr>),
    /// A sign, where it stands, between two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    Concat(Vec<Expr>),
    /// The operands so many times side by side; the number is constant.
    Repeat(Vec<Expr>),
    /// `'{...}`: the values of members or elements, with their names.
    Pattern(Vec<(Option<String>, Expr)>),
    /// Whether a value is one of a list.
    Inside(Box<Expr>, Vec<Expr>),
}

/// An operator between two operands.
#[derive(Clone, Debug)]
pub(crate) struct Operator {
    pub(crate) sign: String,
    /// Bytes of the source.
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Select {
    /// One element or bit.
    One(Box<Expr>),
    /// A constant number of bits from a first one on.
    From(Box<Expr>),
    Constant,
}

#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    /// Bytes of the source.
    pub(crate) span: Range<usize>,
    pub(crate) node: StmtNode,
}

#[derive(Clone, Debug)]
pub(crate) enum StmtNode {
    /// One after the other.
    Block(Vec<Stmt>),
    /// `if`.
    If(Expr, Box<Stmt>, Option<Box<Stmt>>),
    /// `case`: what is compared, and the arms with their labels; none is `default`.
    Case(Expr, Vec<(Vec<Expr>, Stmt)>),
    /// A loop with constant bounds.
    For(Box<Stmt>),
    Assign {
        target: Expr,
        /// `=`, `<=`, `+=` ...
        sign: String,
        value: Expr,
    },
    /// A call of a function without a result.
    Call(Expr),
    Other,
}

/// An item of a module or package.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Assign {
        target: Expr,
        value: Expr,
    },
    /// `always_comb`.
    Comb(Stmt),
    /// `always_ff`.
    Registers(Stmt),
    Function(Function),
    /// An instance of a module.
    Instance(Instance),
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Its arguments in order.
    pub(crate) arguments: Vec<Port>,
    pub(crate) body: Vec<Stmt>,
}

/// A port of a module, or an argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// Which way its value goes.
    pub(crate) direction: Direction,
}

/// Which way a value goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// An instance of a module.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) module: String,
    /// What stands at each port; nothing where the port's own name does (`.clk_i`).
    pub(crate) connections: Vec<(String, Option<Expr>)>,
    /// Bytes of the source.
    pub(crate) span: Range<usize>,
}

/// An item with what holds for all of it.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) item: Item,
    /// Only the probe needs it: it shows the design and is no part of it.
    pub(crate) probe: bool,
}

/// A module or a package.
#[derive(Clone, Debug)]
pub(crate) struct SourceUnit {
    pub(crate) name: String,
    /// Its ports in order; none of a package.
    pub(crate) ports: Vec<Port>,
    /// What is in it, generate blocks taken apart.
    pub(crate) items: Vec<Placed>,
    /// Where its items begin: behind its header.
    pub(crate) body: usize,
}
