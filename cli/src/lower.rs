//! `atoms lower`: machine code of PTX instructions and of compiler builtins.

use std::io::Read as _;
use std::path::Path;

use atoms_builtin::{
    Builtin, BuiltinAtArches, BuiltinRefusal, Call, CasStrength, Dialect, LowerTextError, LoweredInstruction,
    arches_named, expand_at, lower_text,
};
use atoms_isa::Arch;
use atoms_run::kernel::source::{self, Wanted};

use crate::args::LowerArgs;
use crate::output::error::{CliError, Verdict, message};
use crate::output::{out, outln, print_json};

pub(crate) fn run(args: &LowerArgs) -> Result<Verdict, CliError> {
    if args.builtins {
        return list(args.json);
    }
    if let Some(name) = &args.builtin {
        return builtin(args, name);
    }
    let ptx = args.ptx.as_deref().unwrap_or("-");
    let (name, text) = source(ptx, &args.arch)?;
    let instructions = lower_text(&name, &text, &args.arch, args.unused).map_err(|error| match error {
        LowerTextError::Text(error) => CliError::Listing(error),
        LowerTextError::Arch(error) => message!("--arch: {error}"),
    })?;
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
    let arches = arches_named(&args.arch, None).map_err(|error| message!("--arch: {error}"))?;
    let arches: Vec<_> = arches.into_iter().map(target).collect::<Result<_, _>>()?;
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
