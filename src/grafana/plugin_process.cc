#include "grafana/plugin_process.h"

#include <fcntl.h>
#include <grpcpp/health_check_service_interface.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/memory_budget.h"
#include "base/version.h"
#include "grafana/hclog.h"
#include "grafana/services.h"

namespace kafscope {

namespace {

constexpr size_t kMemoryBudget = size_t{512} << 20;
constexpr int kMaxRequestBytes = 16 << 20;
constexpr std::chrono::milliseconds kShutdownTime{500};

int g_stop_pipe[2] = {-1, -1};

void AskToStop() {
  const char byte = 1;
  if (write(g_stop_pipe[1], &byte, 1) < 0) return;
}

void OnSignal(int) { AskToStop(); }

class ControllerService final : public plugin::GRPCController::Service {
 public:
  // Only asks: the server cannot end inside of a call of its own.
  grpc::Status Shutdown(grpc::ServerContext*, const plugin::Empty*, plugin::Empty*) override {
    AskToStop();
    return grpc::Status::OK;
  }
};

class StdioService final : public plugin::GRPCStdio::Service {
 public:
  // Nothing is ever sent: standard output is not used after the handshake.
  grpc::Status StreamStdio(grpc::ServerContext* context, const google::protobuf::Empty*,
                           grpc::ServerWriter<plugin::StdioData>*) override {
    while (!context->IsCancelled() && !stopping.load()) usleep(50'000);
    return grpc::Status::OK;
  }
  std::atomic<bool> stopping{false};
};

const char* Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A socket in a folder of its own, which only this user may enter.
class Socket {
 public:
  bool Make() {
    std::string parent = Environment("PLUGIN_UNIX_SOCKET_DIR");
    if (parent.empty()) parent = Environment("TMPDIR");
    if (parent.empty()) parent = "/tmp";
    std::string pattern = parent + "/kafscope-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) return false;
    folder_ = pattern;
    path_ = folder_ + "/plugin";
    return true;
  }
  ~Socket() {
    if (folder_.empty()) return;
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  std::string folder_;
  std::string path_;
};

// Returns when a stop is asked for, or the parent is gone.
void WaitForStop(pid_t parent) {
  pollfd wait{g_stop_pipe[0], POLLIN, 0};
  while (poll(&wait, 1, 500) <= 0) {
    if (getppid() != parent) return;
  }
}

// Anything that a library might print goes to the log instead of the handshake's pipe, which stays open: its end would
// look to the host like the plugin's.
bool WriteHandshake(const std::string& path) {
  const std::string line = "1|2|unix|" + path + "|grpc\n";
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) return false;
  return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

}  // namespace

int RunPlugin() {
  if (std::string(Environment("grafana_plugin_type")) != "datasource") {
    static const char kHint[] =
        "This is a Grafana plugin: Grafana starts it by itself. Put its folder into Grafana's plugin folder.\n";
    if (write(STDERR_FILENO, kHint, sizeof(kHint) - 1) < 0) return 1;
    return 1;
  }
  if (*Environment("PLUGIN_CLIENT_CERT") != '\0') {
    Log(LogLevel::kError, "AutoMTLS is not supported: unset PLUGIN_CLIENT_CERT");
    return 1;
  }
  const pid_t parent = getppid();
  umask(077);
  if (pipe2(g_stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return 1;
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C goes to the whole group; the host decides
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGTERM, OnSignal);
  prctl(PR_SET_PDEATHSIG, SIGTERM);

  InstanceCache instances(std::make_shared<MemoryBudget>(kMemoryBudget));
  DiagnosticsService diagnostics(instances);
  DataService data(instances);
  ResourceService resource(instances);
  StreamService stream(instances);
  ControllerService controller;
  StdioService stdio;
  Socket socket;
  if (!socket.Make()) {
    Log(LogLevel::kError, "cannot make a folder for the socket: set PLUGIN_UNIX_SOCKET_DIR or TMPDIR");
    return 1;
  }
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket.path(), grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder.SetMaxSendMessageSize(-1);
  for (grpc::Service* service :
       std::initializer_list<grpc::Service*>{&diagnostics, &data, &resource, &stream, &controller, &stdio}) {
    builder.RegisterService(service);
  }
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    Log(LogLevel::kError, "cannot listen", {{"socket", socket.path()}});
    return 1;
  }
  server->GetHealthCheckService()->SetServingStatus("plugin", true);
  if (!WriteHandshake(socket.path())) return 1;
  Log(LogLevel::kInfo, "kafscope plugin started", {{"version", kVersion}});

  WaitForStop(parent);
  stream.Stop();
  stdio.stopping.store(true);
  server->Shutdown(std::chrono::system_clock::now() + kShutdownTime);
  server->Wait();
  instances.Clear();
  return 0;
}

}  // namespace kafscope
