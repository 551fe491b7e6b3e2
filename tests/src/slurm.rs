//! Slurm cluster on one machine: munged, slurmctld and slurmds on loopback, in a folder of their own. The
//! cluster needs no systemd, cgroups or installed configuration. [`Cluster`] shuts the daemons down when it
//! is dropped, also after a test failure. The shutdown only ends processes that the cluster started.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use atoms_host::processes::{self, Process, Signal};
use atoms_host::programs;

#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    path: String,
    daemons: Vec<(&'static str, Child)>,
}

fn free_ports(count: usize) -> Vec<u16> {
    let listeners: Vec<_> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback has a free port")).collect();
    listeners.iter().map(|l| l.local_addr().expect("it has an address").port()).collect()
}

fn output_of(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output().unwrap_or_else(|e| panic!("{program}: {e}"));
    String::from_utf8_lossy(&output.stdout).trim().to_string()
}

/// Returns a filter for processes that the cluster in `folder` started, including daemons.
fn of_cluster(folder: &Path) -> impl Fn(&Process) -> bool + use<> {
    let mark = format!("SLURM_CONF={}/slurm.conf", folder.display());
    move |process| process.environment.contains(&mark)
}

/// Returns processes of the cluster in `folder` that still run after its shutdown.
pub fn left(folder: &Path) -> Vec<Process> {
    processes::left(of_cluster(folder))
}

impl Cluster {
    /// Starts a cluster with `nodes` nodes of one processor each and arrays of at most `max_array` tasks.
    ///
    /// Returns None if Slurm is missing and cannot be installed. The caller then skips its test.
    ///
    /// # Panics
    /// The cluster does not start. The message contains the logs.
    pub fn start(name: &str, nodes: usize, max_array: u32) -> Option<Cluster> {
        let path = programs::SLURM.find()?;
        // Socket names are limited to 108 bytes.
        let base = fs::canonicalize(crate::generated("slurm")).expect("it was just made");
        let base = if base.as_os_str().len() < 70 { base } else { std::env::temp_dir() };
        let folder = base.join(format!("{name}.{}", std::process::id()));
        for part in ["run", "state", "spool", "log", "munge"] {
            fs::create_dir_all(folder.join(part)).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        }
        let mut cluster = Cluster { folder, path, daemons: Vec::new() };
        cluster.configure(nodes, max_array);
        cluster.bring_up(nodes);
        Some(cluster)
    }

    fn configure(&self, nodes: usize, max_array: u32) {
        let (host, user) = (output_of("uname", &["-n"]), output_of("id", &["-un"]));
        let host = host.split('.').next().unwrap_or_default();
        let ports: Vec<String> = free_ports(nodes + 1).iter().map(ToString::to_string).collect();
        let (control, of_nodes) = ports.split_first().expect("there is one more than nodes");
        let node = |(number, port): (usize, &String)| {
            format!(
                "NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=100 State=UNKNOWN\n"
            )
        };
        let of_nodes: String = of_nodes.iter().enumerate().map(node).collect();
        let d = self.folder.display();
        let text = format!(
            "ClusterName=atoms\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nAuthInfo=socket={d}/run/munge.sock\nCredType=cred/munge\n\
             SlurmctldPort={control}\nCommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n\
             StateSaveLocation={d}/state\nSlurmdSpoolDir={d}/spool/%n\n\
             SlurmctldPidFile={d}/run/slurmctld.pid\nSlurmdPidFile={d}/run/slurmd.%n.pid\n\
             SlurmctldLogFile={d}/log/slurmctld.log\nSlurmdLogFile={d}/log/slurmd.%n.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerType=sched/backfill\n\
             SchedulerParameters=sched_interval=1,bf_interval=1,defer\nSlurmdParameters=config_overrides\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             ReturnToService=2\nKillWait=2\nMaxArraySize={max_array}\n{of_nodes}\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO\n"
        );
        fs::write(self.folder.join("slurm.conf"), text).expect("the configuration can be written");
        // slurmd loads a cgroup plugin although this cluster uses no cgroups. By default slurmd selects the
        // version mounted at /sys/fs/cgroup, and fails if none is mounted. Version 1 loads without a mount.
        fs::write(self.folder.join("cgroup.conf"), "CgroupPlugin=cgroup/v1\n")
            .expect("the configuration can be written");
        // Any client with the key can submit jobs. The key exists only as long as the cluster.
        let key = self.folder.join("munge/key");
        fs::write(
            &key,
            fs::read("/proc/sys/kernel/random/uuid").expect("Linux has random numbers").repeat(2),
        )
        .expect("the key can be written");
        let allow = |mode: u32, path: &Path| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
        };
        allow(0o400, &key);
        allow(0o700, &self.folder.join("munge"));
    }

    fn bring_up(&mut self, nodes: usize) {
        let d = self.folder.display().to_string();
        let munge = [
            "--foreground".to_string(),
            "--force".to_string(),
            format!("--key-file={d}/munge/key"),
            format!("--socket={d}/run/munge.sock"),
            format!("--pid-file={d}/run/munged.pid"),
            format!("--log-file={d}/log/munged.log"),
            format!("--seed-file={d}/munge/seed"),
        ];
        self.daemon("munged", &munge);
        let socket = self.folder.join("run/munge.sock");
        self.until("munged listens", Duration::from_secs(10), || socket.exists());
        let config = format!("{d}/slurm.conf");
        self.daemon("slurmctld", &["-D".into(), "-f".into(), config.clone()]);
        for node in 0..nodes {
            self.daemon(
                "slurmd",
                &["-D".into(), "-f".into(), config.clone(), "-N".into(), format!("n{node}")],
            );
        }
        self.until("all nodes are idle", Duration::from_secs(30), || {
            let states = self.try_command("sinfo", &["--noheader", "--Node", "--format=%t"]);
            String::from_utf8_lossy(&states.stdout).lines().filter(|state| *state == "idle").count() == nodes
        });
    }

    fn daemon(&mut self, program: &'static str, args: &[String]) {
        let log = fs::File::create(self.folder.join(format!("log/{program}.{}.out", self.daemons.len())))
            .expect("a log can be created");
        // `setpriv` ends the daemon if this process is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", program])
            .args(args)
            .env("PATH", &self.path)
            .env("SLURM_CONF", self.folder.join("slurm.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file can be opened twice"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|e| panic!("{program}: {e}"));
        self.daemons.push((program, child));
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the environment variable that directs Slurm commands to this cluster.
    pub fn variable(&self) -> (&'static str, PathBuf) {
        ("SLURM_CONF", self.folder.join("slurm.conf"))
    }

    fn try_command(&self, program: &str, args: &[&str]) -> Output {
        let (name, value) = self.variable();
        Command::new(program)
            .args(args)
            .env("PATH", &self.path)
            .env(name, value)
            .output()
            .unwrap_or_else(|e| panic!("{program}: {e}"))
    }

    /// Runs a Slurm command and returns its stdout.
    ///
    /// # Panics
    /// The command fails.
    pub fn command(&self, program: &str, args: &[&str]) -> String {
        let output = self.try_command(program, args);
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {}: {words}\n{}", args.join(" "), self.logs());
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Waits until `holds` returns true.
    ///
    /// # Panics
    /// The wait exceeds `limit`. The message contains the logs.
    pub fn until(&self, what: &str, limit: Duration, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            let waited = begun.elapsed();
            assert!(waited < limit, "waited {waited:?} until {what}\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns processes of the cluster other than daemons: jobs and their supervisors.
    pub fn processes(&self) -> Vec<Process> {
        let daemons: Vec<u32> = self.daemons.iter().map(|(_, child)| child.id()).collect();
        let mut found = processes::running(of_cluster(&self.folder));
        found.retain(|p| !daemons.contains(&p.pid) && !p.words.contains("slurmscriptd"));
        found
    }

    fn logs(&self) -> String {
        let mut text = String::new();
        for entry in fs::read_dir(self.folder.join("log")).into_iter().flatten().flatten() {
            let log = fs::read(entry.path()).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            let lines: Vec<_> = log.lines().collect();
            text += &format!("-- {}\n", entry.path().display());
            text += &(lines[lines.len().saturating_sub(15)..].join("\n") + "\n");
        }
        text
    }

    fn shut_down(&mut self) {
        if self.daemons.iter().any(|(name, _)| *name == "slurmctld") {
            let _ = self.try_command("scancel", &["--quiet", "--signal=KILL", "--state=RUNNING"]);
            let _ = self.try_command("scancel", &["--quiet", "--me"]);
        }
        for process in self.processes() {
            processes::signal(process.pid, Signal::KILL);
        }
        // One at a time, because slurmctld does not shut down cleanly without munged.
        for (_, daemon) in self.daemons.iter_mut().rev() {
            processes::signal(daemon.id(), Signal::TERM);
            let begun = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(10));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
        self.daemons.clear();
        for process in processes::running(of_cluster(&self.folder)) {
            processes::signal(process.pid, Signal::KILL);
        }
    }

    /// Shuts the cluster down and returns the processes that still run.
    pub fn end(mut self) -> Vec<Process> {
        self.shut_down();
        left(&self.folder)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shut_down();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}
