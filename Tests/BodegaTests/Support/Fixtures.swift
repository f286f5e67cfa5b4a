import Foundation

/// Frozen files of formats that have been released. They are never written again.
enum Fixtures {
    static func file(_ name: String) -> URL {
        // Tests/BodegaTests/Support/Fixtures.swift
        URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Fixtures/\(name)")
    }
}
