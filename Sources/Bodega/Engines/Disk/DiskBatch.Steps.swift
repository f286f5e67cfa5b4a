import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskBatch {

    /// The list of a batch's steps. The number of a step is the name of its staged file.
    ///
    /// In a file, each step is a letter, the item's name and a NUL, which no name can contain: `W` for a write, `S` for
    /// a write with a sidecar, `R` for a removal. An `E` marks the end.
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
                    """
                    A batch was interrupted and its list could not be read, so the folder may hold half of the batch. \
                    Make the file readable or restore a backup of the folder.
                    """,
                    file: URL(fileURLWithPath: path),
                    cause: error
                )
            }
            guard let steps = Self(bytes: data) else {
                throw StorageError(
                    .damaged,
                    """
                    A batch was interrupted and its list is damaged, so the folder may hold half of the batch. \
                    Restore a backup of the folder.
                    """,
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
