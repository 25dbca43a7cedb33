// The plugin's process: what hashicorp/go-plugin and Grafana ask of it. Handshake on standard output, gRPC on a unix
// socket, logs on standard error, an end within two seconds.
// Threads: RunPlugin() is called once, from main.
#pragma once

namespace kafscope {

// Gives the exit code.
int RunPlugin();

}  // namespace kafscope
