//! The life of the process: build, start, say where, wait for a signal, stop.

use std::io::Write;
use std::process::ExitCode;

use tokio::signal::unix::{SignalKind, signal};

use super::{EXIT_SOFTWARE, EXIT_USAGE};
use crate::app::{App, BuildError, Running};
use crate::config::Config;

/// Serves until SIGTERM or SIGINT; 0 if everything was drained, [`EXIT_SOFTWARE`] if something stayed unflushed.
pub fn serve(config: Config) -> anyhow::Result<ExitCode> {
    let ran = actix_rt::System::new().block_on(async {
        if config.rates.off {
            tracing::warn!("--limits off: no rates per person; for load tests only");
        }
        let running = App::build(config).await?.start().await?;
        announce(&running);
        wait_for_signal().await?;
        Ok::<_, BuildError>(running.stop().await)
    });
    match ran {
        Ok(report) if report.is_clean() => {
            tracing::info!("stopped: {report}");
            Ok(ExitCode::SUCCESS)
        }
        Ok(report) => {
            tracing::error!("stopped: {report}");
            Ok(ExitCode::from(EXIT_SOFTWARE))
        }
        Err(error) if error.is_configuration() => {
            super::tell(format_args!("heartline: bad configuration: {error}"));
            Ok(ExitCode::from(EXIT_USAGE))
        }
        Err(error) => Err(error.into()),
    }
}

async fn wait_for_signal() -> std::io::Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => tracing::info!("SIGTERM: stopping"),
        _ = interrupt.recv() => tracing::info!("SIGINT: stopping"),
    }
    Ok(())
}

/// People and scripts wait for these lines on standard output; where nobody reads them it serves all the same.
fn announce(running: &Running) {
    let root = format!("http://{}", running.address);
    let _ = write!(
        std::io::stdout(),
        "heartline {} serves with {}\n\n  \
         {root}/                    live items, a demo to open\n  \
         {root}/watch/?item=demo    viewer\n  \
         {root}/studio/?items=demo  dashboard\n  \
         {root}/overlay/?item=demo  counter to lay over a video\n",
        env!("CARGO_PKG_VERSION"),
        running.stores(),
    );
    let _ = std::io::stdout().flush();
}
