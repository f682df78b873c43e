//! Python environments for steps that judge with tools of others: made once, and kept between runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process;
use crate::workspace::Workspace;

/// A Python that can import what a step needs.
pub(crate) struct Python {
    program: PathBuf,
    /// Where the packages lie, if not in the program's own environment.
    path: Option<PathBuf>,
}

impl Python {
    /// Sets the environment up, or takes the one of an earlier run if it holds the same versions.
    pub(crate) fn prepare(
        workspace: &Workspace,
        directory: &Path,
        packages: &[&str],
        imports: &str,
    ) -> Result<Self> {
        let (stamp, wanted) = (directory.join("packages.txt"), packages.join("\n"));
        let in_venv = Self { program: directory.join("venv/bin/python"), path: None };
        let beside = Self { program: "python3".into(), path: Some(directory.join("packages")) };
        if std::fs::read_to_string(&stamp).is_ok_and(|text| text == wanted) {
            for kept in [&in_venv, &beside] {
                let mut import = kept.command(workspace);
                import.args(["-c", imports]);
                if process::works(import) {
                    return Ok(Self { program: kept.program.clone(), path: kept.path.clone() });
                }
            }
        }
        let mut version = workspace.command("python3");
        version.args(["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]);
        ensure!(
            process::works(version),
            "this step needs python3, 3.10 or newer (Debian: apt install python3)"
        );
        let _ = std::fs::remove_dir_all(directory);
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;

        let mut venv = workspace.command("python3");
        venv.args(["-m", "venv"]).arg(directory.join("venv"));
        let mut pip = workspace.command("python3");
        pip.args(["-m", "pip", "--version"]);
        let ready = if process::works(venv) {
            in_venv
        } else if process::works(pip) {
            eprintln!("python3 cannot make a virtual environment here: pip installs into a plain directory");
            beside
        } else {
            bail!("python3 has neither venv nor pip (Debian: apt install python3-venv)");
        };
        let mut install = workspace.command(&ready.program);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        if let Some(path) = &ready.path {
            install.arg("--target").arg(path);
        }
        install.args(packages);
        process::run(install).context("pip could not install the packages: is a package index in reach?")?;
        std::fs::write(&stamp, wanted)?;
        Ok(ready)
    }

    pub(crate) fn command(&self, workspace: &Workspace) -> Command {
        let mut command = workspace.command(&self.program);
        if let Some(path) = &self.path {
            command.env("PYTHONPATH", path);
        }
        command
    }
}
