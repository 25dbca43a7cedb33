// kafscope topics: list, describe, create, delete.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/kafka_flags.h"
#include "pipeline/query_options.h"
#include "source/kafka_admin.h"

namespace kafscope {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::chrono::milliseconds kTimeout{15000};

struct TopicsCommand {
  KafkaFlags kafka;
  NewTopic topic;
  std::vector<std::string> configs;
  bool json = false;
  bool internal = false;
};

// Records of all partitions; −1 if one is not known.
int64_t CountRecords(const std::vector<OffsetRange>& ranges) {
  int64_t records = 0;
  for (const OffsetRange& range : ranges) {
    if (range.start < 0 || range.end < 0) return -1;
    records += range.end - range.start;
  }
  return records;
}

Status List(KafkaAdmin& admin, const TopicsCommand& command) {
  Result<std::vector<TopicSummary>> topics = admin.ListTopics(kTimeout);
  if (!topics) return topics.error();
  if (!command.internal) std::erase_if(*topics, [](const TopicSummary& topic) { return topic.internal; });
  Result<std::map<std::string, std::vector<OffsetRange>>> offsets = admin.Offsets(*topics, kTimeout);
  if (!offsets) return offsets.error();
  Json rows = Json::array();
  if (!command.json) std::printf("%-40s %10s %15s\n", "TOPIC", "PARTITIONS", "RECORDS");
  for (const TopicSummary& topic : *topics) {
    const int64_t records = CountRecords((*offsets)[topic.name]);
    if (command.json) {
      rows.push_back({{"name", topic.name},
                      {"internal", topic.internal},
                      {"partitions", topic.partitions},
                      {"records", records < 0 ? Json() : Json(records)}});
      if (!topic.error.empty()) rows.back()["error"] = topic.error;
    } else {
      std::printf("%-40s %10d %15s%s%s\n", topic.name.c_str(), topic.partitions,
                  records < 0 ? "-" : std::to_string(records).c_str(), topic.error.empty() ? "" : "  ",
                  topic.error.c_str());
    }
  }
  if (command.json) std::cout << rows.dump() << '\n';
  return {};
}

Status Describe(KafkaAdmin& admin, const TopicsCommand& command) {
  const Result<TopicInfo> info = admin.DescribeTopic(command.topic.name, kTimeout);
  if (!info) return info.error();
  const std::vector<TopicSummary> summary = {
      {info->name, info->internal, static_cast<int>(info->partitions.size()), ""}};
  Result<std::map<std::string, std::vector<OffsetRange>>> offsets = admin.Offsets(summary, kTimeout);
  if (!offsets) return offsets.error();
  std::vector<OffsetRange>& ranges = (*offsets)[info->name];
  ranges.resize(info->partitions.size());
  Json partitions = Json::array();
  if (!command.json)
    std::printf("%9s %7s %15s %15s  %-12s %s\n", "PARTITION", "LEADER", "START", "END", "REPLICAS", "IN SYNC");
  const auto list = [](const std::vector<int32_t>& ids) {
    std::string text;
    for (const int32_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
    return text;
  };
  for (size_t i = 0; i < info->partitions.size(); ++i) {
    const PartitionInfo& partition = info->partitions[i];
    if (command.json) {
      partitions.push_back({{"id", partition.id},
                            {"leader", partition.leader},
                            {"start_offset", ranges[i].start},
                            {"end_offset", ranges[i].end},
                            {"replicas", partition.replicas},
                            {"in_sync", partition.in_sync}});
    } else {
      std::printf("%9d %7d %15lld %15lld  %-12s %s\n", partition.id, partition.leader,
                  static_cast<long long>(ranges[i].start), static_cast<long long>(ranges[i].end),
                  list(partition.replicas).c_str(), list(partition.in_sync).c_str());
    }
  }
  if (command.json) std::cout << Json({{"name", info->name}, {"partitions", partitions}}).dump() << '\n';
  return {};
}

Status Create(KafkaAdmin& admin, TopicsCommand& command) {
  for (const std::string& config : command.configs) {
    const size_t equals = config.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Status::InvalidArgument("--topic-config: '" + config + "' is not NAME=VALUE");
    }
    command.topic.configs[config.substr(0, equals)] = config.substr(equals + 1);
  }
  return admin.CreateTopic(command.topic, kTimeout);
}

Status Delete(KafkaAdmin& admin, const TopicsCommand& command) {
  return admin.DeleteTopic(command.topic.name, kTimeout);
}

template <typename Action>
int Run(TopicsCommand& command, Action action) {
  if (!command.topic.name.empty()) {
    if (Status status = CheckTopicName(command.topic.name); !status.ok()) return ReportFailure(status);
  }
  const Result<KafkaOptions> options = ToKafkaOptions(command.kafka);
  if (!options) return ReportFailure(options.error());
  Result<std::unique_ptr<KafkaAdmin>> admin = KafkaAdmin::Make(*options);
  if (!admin) return ReportFailure(admin.error());
  return ReportFailure(action(**admin, command));
}

template <typename Action>
CLI::App* AddAction(CLI::App& app, const std::shared_ptr<TopicsCommand>& command, int* exit_code, const char* name,
                    const char* help, bool needs_topic, Action action) {
  CLI::App* sub = app.add_subcommand(name, help);
  if (needs_topic) sub->add_option("topic", command->topic.name, "the topic")->type_name("TOPIC")->required();
  AddKafkaFlags(*sub, &command->kafka);
  sub->callback([command, exit_code, action] { *exit_code = Run(*command, action); });
  return sub;
}

}  // namespace

void DefineTopics(CLI::App& app, int* exit_code) {
  auto command = std::make_shared<TopicsCommand>();
  app.require_subcommand(1);
  CLI::App* list = AddAction(app, command, exit_code, "list", "all topics with their records", false, &List);
  list->add_flag("--json", command->json, "as JSON");
  list->add_flag("--internal", command->internal, "the cluster's own topics too");
  AddAction(app, command, exit_code, "describe", "a topic's partitions", true, &Describe)
      ->add_flag("--json", command->json, "as JSON");
  CLI::App* create = AddAction(app, command, exit_code, "create", "create a topic", true, &Create);
  create->add_option("--partitions", command->topic.partitions, "number of partitions (default 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  create->add_option("--replication", command->topic.replication, "replicas (default: the broker's)")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  create->add_option("--topic-config", command->configs, "a setting of the topic")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all();
  AddAction(app, command, exit_code, "delete", "delete a topic", true, &Delete);
}

}  // namespace kafscope
