import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskBatch {

    /// The list of what a batch does. A step's number names the staged file that it publishes.
    ///
    /// In a file, each step is a letter and the item's name, which may hold anything but a NUL, with a NUL behind it: `W`
    /// for a write, `S` for a write with a sidecar, `R` for a removal. The end is marked by an `E`.
    struct Steps: Equatable {
        enum Step: Equatable {
            case write(String, hasSidecar: Bool)
            case remove(String)
        }

        var list: [Step] = []

        init(_ list: [Step] = []) {
            self.list = list
        }

        init(contentsOfFile path: String) throws {
            let data: Data
            do {
                data = try Data(contentsOf: URL(fileURLWithPath: path))
            } catch {
                throw StorageError(
                    .damaged,
                    "A batch was interrupted and its list could not be read, so the folder may hold half of it.",
                    file: URL(fileURLWithPath: path),
                    cause: error
                )
            }
            guard let steps = Self(bytes: data) else {
                throw StorageError(
                    .damaged,
                    "A batch was interrupted and its list is damaged, so the folder may hold half of it.",
                    file: URL(fileURLWithPath: path)
                )
            }
            self = steps
        }

        init?(bytes: Data) {
            let entries = bytes.split(separator: 0, omittingEmptySubsequences: false)
            guard entries.last.map(Array.init) == [UInt8(ascii: "E")] else { return nil }
            for entry in entries.dropLast() {
                guard let letter = entry.first, let name = String(validUTF8: entry.dropFirst()) else {
                    return nil
                }
                switch letter {
                case UInt8(ascii: "W"): list.append(.write(name, hasSidecar: false))
                case UInt8(ascii: "S"): list.append(.write(name, hasSidecar: true))
                case UInt8(ascii: "R"): list.append(.remove(name))
                default: return nil
                }
            }
        }

        var bytes: Data {
            var bytes = Data()
            for step in list {
                switch step {
                case .write(let name, let hasSidecar):
                    bytes.append(contentsOf: "\(hasSidecar ? "S" : "W")\(name)\0".utf8)
                case .remove(let name): bytes.append(contentsOf: "R\(name)\0".utf8)
                }
            }
            bytes.append(UInt8(ascii: "E"))
            return bytes
        }
    }
}
