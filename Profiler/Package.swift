// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Profiler",
    platforms: [.macOS(.v14)],
    products: [
        .library(name: "EngineProfiler", targets: ["EngineProfiler"]),
        .executable(name: "profiler", targets: ["ProfilerCLI"]),
    ],
    dependencies: [
        .package(name: "Emporium", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
    ],
    targets: [
        .target(
            name: "EngineProfiler",
            dependencies: [
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                // Only for the version of SQLite.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),
        .executableTarget(name: "ProfilerCLI", dependencies: ["EngineProfiler"]),
        // The program of a custom engine, as the README shows it.
        .executableTarget(
            name: "DictionaryProfiler",
            dependencies: ["EngineProfiler", .product(name: "Bodega", package: "Emporium")]
        ),
        .testTarget(
            name: "EngineProfilerTests",
            dependencies: [
                "DictionaryProfiler",
                "EngineProfiler",
                "ProfilerCLI",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
