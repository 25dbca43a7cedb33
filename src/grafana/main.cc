#include "grafana/plugin_process.h"

int main() { return kafscope::RunPlugin(); }
