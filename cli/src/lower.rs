//! `atoms lower`: machine code of PTX instructions and of compiler builtins.

use std::io::Read as _;
use std::path::Path;

use atoms_builtin::{
    Builtin, BuiltinAtArches, BuiltinRefusal, Call, CasStrength, Dialect, LoweredInstruction, expand_at,
    lower_at,
};
use atoms_isa::Arch;
use atoms_isa::ptx::{self, Module};
use atoms_run::kernel::source::{self, Wanted};

use crate::args::LowerArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{out, outln, print_json};

/// Default architectures: one or more of each generation whose code can run.
const USUAL: &[&str] = &["sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"];

/// All architectures with different lowering.
const ALL: &[&str] =
    &["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_107", "sm_120"];

const FIRST: u16 = 50;

pub(crate) fn run(args: &LowerArgs) -> Result<Verdict, CliError> {
    if args.builtins {
        return list(args.json);
    }
    if let Some(name) = &args.builtin {
        return builtin(args, name);
    }
    let ptx = args.ptx.as_deref().unwrap_or("-");
    let (name, text) = source(ptx, &args.arch)?;
    let whole = ptx::is_module(&text);
    let module = module(&name, &text, whole)?;
    let arches = arches(args, whole.then_some(module.target))?;
    let used = match (args.unused, whole) {
        (true, _) => Some(false),
        // A snippet does not show later reads. Lower as if the program reads the result of every instruction.
        (false, false) => Some(true),
        (false, true) => None,
    };
    let instructions = lower_at(&module, &arches, used, whole);
    if instructions.is_empty() {
        return Err(message!(
            "{name}: nothing to lower; expected atom, red, mbarrier or an asynchronous copy"
        ));
    }
    if args.json {
        print_json(&instructions.iter().flat_map(LoweredInstruction::results).collect::<Vec<_>>())?;
    } else {
        instructions.iter().try_for_each(|instruction| out!("{instruction}"))?;
    }
    let refused = instructions.iter().any(LoweredInstruction::is_refused);
    Ok(if refused { Verdict::Disagree } else { Verdict::Agree })
}

/// Returns name and text of the PTX. CUDA C is compiled for the first named architecture.
fn source(ptx: &str, arches: &[String]) -> Result<(String, String), CliError> {
    if ptx == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(CliError::reading(Path::new("standard input")))?;
        return Ok(("standard input".into(), text));
    }
    let path = Path::new(ptx);
    // An argument with blanks is an instruction, unless a file has that name.
    if path.is_file() || !ptx.contains(char::is_whitespace) {
        let first = arches.first().and_then(|name| Arch::from_name(name));
        let text = source::read(path, first, Wanted::Ptx)?;
        return Ok((ptx.into(), text));
    }
    Ok(("the instruction".into(), ptx.into()))
}

/// Parses a module, or puts a module around a snippet.
fn module<'t>(name: &str, text: &'t str, whole: bool) -> Result<Module<'t>, CliError> {
    let wrong = |error| CliError::Listing(Box::new(error));
    if whole {
        return Module::parse(name, text).map_err(wrong);
    }
    let functions = vec![ptx::snippet(text).map_err(wrong)?];
    let target = arch(ALL[0])?;
    Ok(Module { version: ptx::NEWEST, target, address_size: 64, variables: Vec::new(), functions })
}

fn arch(name: &str) -> Result<Arch, CliError> {
    Arch::from_name(name).ok_or_else(|| {
        message!(
            "--arch {name}: unknown architecture; expected {}, one of these with a letter such as sm_90a, or `all`",
            ALL.join(", ")
        )
    })
}

fn arches(args: &LowerArgs, target: Option<Arch>) -> Result<Vec<Arch>, CliError> {
    match (args.arch.as_slice(), target) {
        ([], Some(target)) if target.number() < FIRST => Err(message!(
            "the module is for {target}, but the first supported architecture is {}; choose a later one, such as --arch {}",
            ALL[0],
            USUAL[0]
        )),
        ([], Some(target)) => Ok(vec![target]),
        ([], None) => USUAL.iter().map(|name| arch(name)).collect(),
        ([all], _) if all == "all" => ALL.iter().map(|name| arch(name)).collect(),
        (names, _) => names.iter().map(|name| arch(name)).collect(),
    }
}

fn list(as_json: bool) -> Result<Verdict, CliError> {
    let all: Vec<String> = Builtin::all().iter().map(Builtin::to_string).collect();
    if as_json {
        print_json(&all)?;
    } else {
        all.iter().try_for_each(|name| outln!("{name}"))?;
    }
    Ok(Verdict::Agree)
}

fn builtin(args: &LowerArgs, name: &str) -> Result<Verdict, CliError> {
    let read = |error: BuiltinRefusal| CliError::message(error.explained());
    let mut call = Call::new(name.parse().map_err(read)?);
    let dialect: Dialect = args.dialect.parse().map_err(read)?;
    if let Some(ty) = &args.object_type {
        call.ty = Some(ty.parse().map_err(read)?);
    }
    if let Some(order) = &args.order {
        call.order = order.parse().map_err(read)?;
    }
    if let Some(order) = &args.failure_order {
        call.failure = order.parse().map_err(read)?;
    }
    if let Some(scope) = &args.scope {
        call.scope = scope.parse().map_err(read)?;
    }
    if args.weak {
        call.strength = CasStrength::Weak;
    }
    let used = args.unused.then_some(false);
    let target = |arch: Arch| Ok::<_, CliError>((arch, arch.to_string().parse().map_err(read)?));
    let arches: Vec<_> = arches(args, None)?.into_iter().map(target).collect::<Result<_, _>>()?;
    let all = expand_at(&call, dialect, &arches, used);
    let all = all.map_err(|error| CliError::Listing(Box::new(error)))?;
    let refused = all.iter().any(BuiltinAtArches::is_refused);
    if args.json {
        print_json(&all.iter().map(|e| e.result(&call, dialect)).collect::<Vec<_>>())?;
    } else {
        outln!("{} ({dialect})", call.builtin)?;
        all.iter().try_for_each(|answer| out!("{answer}"))?;
    }
    Ok(if refused { Verdict::Disagree } else { Verdict::Agree })
}
