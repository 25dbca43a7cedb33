// Avro fixtures: written by a few lines of obvious encoder, next to the row that each record must give.
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "prove/fixtures.h"

namespace kafscope {
namespace {

using nlohmann::json;

class AvroWriter {
 public:
  AvroWriter& Long(int64_t value) {
    auto raw = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
    for (; raw >= 0x80; raw >>= 7) bytes_ += static_cast<char>(raw | 0x80);
    bytes_ += static_cast<char>(raw);
    return *this;
  }
  AvroWriter& Text(const std::string& value) {
    Long(static_cast<int64_t>(value.size()));
    bytes_ += value;
    return *this;
  }
  AvroWriter& Double(double value) { return Raw(&value, sizeof value); }
  AvroWriter& Float(float value) { return Raw(&value, sizeof value); }
  AvroWriter& Bool(bool value) {
    bytes_ += static_cast<char>(value);
    return *this;
  }
  std::string Take() { return std::exchange(bytes_, {}); }

 private:
  AvroWriter& Raw(const void* from, size_t size) {
    bytes_.append(static_cast<const char*>(from), size);
    return *this;
  }
  std::string bytes_;
};

// `make` writes record i and gives its row.
Fixture MakeAvro(std::string name, std::string schema, const std::function<json(size_t i, AvroWriter& out)>& make) {
  Fixture fixture{std::move(name), {}, {}, 1, {}};
  fixture.options.format = Format::kAvro;
  fixture.options.partition_column = false;
  fixture.options.time_column = false;
  fixture.options.value_schema.text = std::move(schema);
  std::vector<std::string> rows;
  for (size_t i = 0; i < kFixtureRecords; ++i) {
    AvroWriter out;
    rows.push_back(make(i, out).dump());
    fixture.records.push_back(out.Take());
  }
  fixture.expected_rows = [rows](size_t i) { return std::vector<std::string>{rows[i]}; };
  return fixture;
}

int64_t Signed(size_t i) { return static_cast<int64_t>(i); }
constexpr int64_t kStartMillis = 1'700'000'000'000;

Fixture MakeThreeFields() {
  return MakeAvro("avro", R"({"type":"record","name":"Reading","fields":[{"name":"id","type":"string"},
      {"name":"value","type":"double"},{"name":"count","type":"long"}]})",
                  [](size_t i, AvroWriter& out) {
                    const std::string id = "sensor-" + std::to_string(1001 + i % 100).substr(2);
                    const double value = 21.5 + static_cast<double>(i % 64) / 2;
                    out.Text(id).Double(value).Long(42 + Signed(i));
                    return json{{"id", id}, {"value", value}, {"count", 42 + Signed(i)}};
                  });
}

// Ten groups of three: nullable text, nested numbers, an instant with a decimal.
Fixture MakeThirtyFields() {
  json fields = json::array();
  for (int group = 0; group < 10; ++group) {
    const std::string g = std::to_string(group);
    fields.push_back({{"name", "name_" + g}, {"type", {"null", "string"}}});
    fields.push_back(
        {{"name", "point_" + g},
         {"type",
          {{"type", "record"},
           {"name", "Point" + g},
           {"fields", {{{"name", "x"}, {"type", "double"}}, {{"name", "n"}, {"type", {"null", "long"}}}}}}}});
    if (group % 2 == 0) {
      fields.push_back({{"name", "at_" + g}, {"type", {{"type", "long"}, {"logicalType", "timestamp-millis"}}}});
    } else {
      fields.push_back({{"name", "price_" + g},
                        {"type", {{"type", "bytes"}, {"logicalType", "decimal"}, {"precision", 9}, {"scale", 2}}}});
    }
  }
  const json schema = {{"type", "record"}, {"name", "Thirty"}, {"fields", fields}};
  return MakeAvro("avro_30fields", schema.dump(), [](size_t i, AvroWriter& out) {
    json row = json::object();
    for (size_t group = 0; group < 10; ++group) {
      const std::string g = std::to_string(group);
      const bool named = (i + group) % 4 != 0;
      out.Long(named ? 1 : 0);
      if (named) {
        const std::string name = "value-" + std::to_string(i * 10 + group);
        out.Text(name);
        row["name_" + g] = name;
      }
      const double x = static_cast<double>(i + group) / 4;
      const int64_t n = Signed(i * group);
      out.Double(x).Long(1).Long(n);
      row["point_" + g + ".x"] = x;
      row["point_" + g + ".n"] = n;
      if (group % 2 == 0) {
        out.Long(kStartMillis + Signed(i));
        row["at_" + g] = kStartMillis + Signed(i);
      } else {
        const int64_t cents = Signed(i) + 100;  // two bytes
        out.Text({static_cast<char>(cents >> 8), static_cast<char>(cents)});
        row["price_" + g] = static_cast<double>(cents) / 100;
      }
    }
    return row;
  });
}

// The schema of goavro's quickstop files.
Fixture MakeQuickstop() {
  return MakeAvro(
      "avro_quickstop", R"({"type":"record","name":"Person","fields":[{"name":"ID","type":"long"},
      {"name":"First","type":"string"},{"name":"Last","type":"string"},{"name":"Phone","type":"string"},
      {"name":"Age","type":"int"}]})",
      [](size_t i, AvroWriter& out) {
        static const char* const kFirst[] = {"Dante", "Randal", "Veronica", "Caitlin"};
        static const char* const kLast[] = {"Hicks", "Graves", "Loughran", "Bree"};
        const std::string phone = "(" + std::to_string(i) + ")";
        out.Long(Signed(i) + 1).Text(kFirst[i % 4]).Text(kLast[i / 4 % 4]).Text(phone).Long(Signed(i % 80));
        return json{
            {"ID", i + 1}, {"First", kFirst[i % 4]}, {"Last", kLast[i / 4 % 4]}, {"Phone", phone}, {"Age", i % 80}};
      });
}

// The schema of the Go libraries' benchmarks: an array of records, which becomes JSON text.
Fixture MakeSuperhero() {
  return MakeAvro("avro_superhero", R"({"type":"record","name":"Superhero","fields":[{"name":"id","type":"int"},
      {"name":"affiliation_id","type":"int"},{"name":"name","type":"string"},{"name":"life","type":"float"},
      {"name":"energy","type":"float"},{"name":"powers","type":{"type":"array","items":{"type":"record",
      "name":"Superpower","fields":[{"name":"id","type":"int"},{"name":"name","type":"string"},
      {"name":"damage","type":"float"},{"name":"energy","type":"float"},{"name":"passive","type":"boolean"}]}}}]})",
                  [](size_t i, AvroWriter& out) {
                    out.Long(Signed(i)).Long(9867).Text("Wolverine").Float(85.25F).Float(32.75F).Long(2);
                    std::string powers = "[";
                    for (size_t p = 0; p < 2; ++p) {
                      const std::string name = p == 0 ? "Bone Claws" : "Regeneration";
                      out.Long(Signed(i + p)).Text(name).Float(5).Float(1.5F).Bool(p == 1);
                      powers += (p == 0 ? "" : ",") + std::string(R"({"id":)") + std::to_string(i + p) +
                                R"(,"name":")" + name + R"(","damage":5,"energy":1.5,"passive":)" +
                                (p == 1 ? "true}" : "false}");
                    }
                    out.Long(0);
                    return json{{"id", i},       {"affiliation_id", 9867}, {"name", "Wolverine"},
                                {"life", 85.25}, {"energy", 32.75},        {"powers", powers + "]"}};
                  });
}

// A change event as Debezium writes it: nullable before and after, its source, the operation.
Fixture MakeDebezium() {
  return MakeAvro("avro_debezium", R"({"type":"record","name":"Envelope","namespace":"shop.orders","fields":[
      {"name":"before","type":["null",{"type":"record","name":"Value","fields":[{"name":"id","type":"long"},
        {"name":"status","type":"string"},{"name":"amount","type":["null","double"]}]}]},
      {"name":"after","type":["null","Value"]},
      {"name":"source","type":{"type":"record","name":"Source","namespace":"io.debezium","fields":[
        {"name":"connector","type":"string"},{"name":"ts_ms","type":"long"},{"name":"db","type":"string"},
        {"name":"table","type":"string"},{"name":"lsn","type":["null","long"]}]}},
      {"name":"op","type":"string"},{"name":"ts_ms","type":["null","long"]}]})",
                  [](size_t i, AvroWriter& out) {
                    json row = json::object();
                    const auto value = [&](const std::string& side, const char* status) {
                      out.Long(1).Long(Signed(i)).Text(status).Long(1).Double(static_cast<double>(i) / 2);
                      row[side + ".id"] = i;
                      row[side + ".status"] = status;
                      row[side + ".amount"] = static_cast<double>(i) / 2;
                    };
                    const bool update = i % 3 != 0;
                    if (update) {
                      value("before", "open");
                    } else {
                      out.Long(0);
                    }
                    value("after", "paid");
                    const int64_t now = kStartMillis + Signed(i);
                    out.Text("postgresql").Long(now).Text("shop").Text("orders").Long(1).Long(Signed(i) * 56);
                    out.Text(update ? "u" : "c").Long(1).Long(now + 3);
                    row["source.connector"] = "postgresql";
                    row["source.ts_ms"] = now;
                    row["source.db"] = "shop";
                    row["source.table"] = "orders";
                    row["source.lsn"] = i * 56;
                    row["op"] = update ? "u" : "c";
                    row["ts_ms"] = now + 3;
                    return row;
                  });
}

}  // namespace

Fixture MakeAvroFixture(std::string_view name) {
  if (name == "avro_30fields") return MakeThirtyFields();
  if (name == "avro_quickstop") return MakeQuickstop();
  if (name == "avro_superhero") return MakeSuperhero();
  if (name == "avro_debezium") return MakeDebezium();
  return MakeThreeFields();
}

}  // namespace kafscope
