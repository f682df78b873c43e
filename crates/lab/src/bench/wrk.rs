//! nginx and wrk, where they are installed: a yardstick that everybody knows.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mattock_env::{Env, Files};

use super::pages::PAGE_BYTES;
use super::simweb::CONNECTIONS;

/// Requests a second that wrk gets from `url`; `None` if wrk is not installed or says nothing that can be read.
pub(super) fn requests_per_second(url: &str, host: &str, duration: Duration) -> Option<f64> {
    let output = Command::new("wrk")
        .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{}s", duration.as_secs().max(1))])
        .args(["-H", &format!("Host: {host}"), url])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .find_map(|line| line.trim().strip_prefix("Requests/sec:"))
        .and_then(|rate| rate.trim().parse().ok())
}

/// nginx with one worker and one static page; stopped and cleaned up when dropped.
pub(super) struct Nginx {
    child: Child,
    files: Files,
    directory: PathBuf,
    port: u16,
}

impl Nginx {
    /// Starts it; `None` if it is not installed or does not start.
    pub(super) async fn start(env: &Env) -> Option<Nginx> {
        let name = format!("mattock-nginx-{:016x}", env.random.fork("nginx").next_u64());
        let directory = std::env::temp_dir().join(name);
        let port = free_port(env).await.ok()?;
        env.files.create_dir_all(&directory).ok()?;
        let started = write_files(&env.files, &directory, port).and_then(|configuration| {
            Command::new("nginx")
                .arg("-p")
                .arg(&directory)
                .arg("-c")
                .arg(configuration)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
        });
        let Ok(child) = started else {
            // Nothing but our own files is there; if they cannot be removed the system's cleaner will do it.
            let _ = env.files.remove_dir_all(&directory);
            return None;
        };
        let nginx = Nginx { child, files: env.files.clone(), directory, port };
        for _ in 0..50 {
            if env.net.connect(([127, 0, 0, 1], port).into()).await.is_ok() {
                return Some(nginx);
            }
            env.clock.sleep(Duration::from_millis(50)).await;
        }
        None
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/page.html", self.port)
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // It may have ended by itself already; either way it is gone after the wait.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.files.remove_dir_all(&self.directory);
    }
}

async fn free_port(env: &Env) -> io::Result<u16> {
    Ok(env.net.listen(([127, 0, 0, 1], 0).into()).await?.address()?.port())
}

fn write_files(files: &Files, directory: &Path, port: u16) -> io::Result<PathBuf> {
    files.write_atomic(&directory.join("page.html"), &vec![b'x'; PAGE_BYTES])?;
    let root = directory.display();
    let text = format!(
        "daemon off; master_process off; worker_processes 1; pid {root}/pid; error_log /dev/null;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;\n\
         open_file_cache max=10; client_body_temp_path {root}/a; proxy_temp_path {root}/b;\n\
         fastcgi_temp_path {root}/c; uwsgi_temp_path {root}/d; scgi_temp_path {root}/e;\n\
         server {{ listen 127.0.0.1:{port}; root {root}; }} }}\n"
    );
    let path = directory.join("nginx.conf");
    files.write_atomic(&path, text.as_bytes())?;
    Ok(path)
}
