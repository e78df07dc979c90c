// Runs a fuzzer's function once for each file of a corpus, with any compiler: what was found once stays tested.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv)
{
    std::size_t count = 0;
    for (int i = 1; i < argc; ++i) {
        for (auto const& entry : std::filesystem::directory_iterator{argv[i]}) {
            std::ifstream file{entry.path(), std::ios::binary};
            std::vector<char> const bytes{std::istreambuf_iterator<char>{file}, {}};
            if (!file) {
                std::fprintf(stderr, "%s cannot be read\n", entry.path().c_str());
                return 1;
            }
            std::fprintf(stderr, "%s\n", entry.path().c_str());  // the last one is the one that failed
            LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
            ++count;
        }
    }
    std::fprintf(stderr, "%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
