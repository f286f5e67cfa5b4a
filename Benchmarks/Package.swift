// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    products: [
        .executable(name: "bench", targets: ["Bench"]),
        .executable(name: "coder-allocations", targets: ["CoderAllocations"]),
    ],
    traits: [
        .trait(name: "Postgres", description: "Also measures the engine for PostgreSQL, which needs libpq.")
    ],
    dependencies: [
        .package(
            name: "Emporium",
            path: "..",
            traits: [.trait(name: "Postgres", condition: .when(traits: ["Postgres"]))]
        ),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(name: "BenchHarness"),
        .target(name: "CSync"),
        .target(name: "CAllocations"),
        .target(name: "CoderInputs", dependencies: [.product(name: "BodegaTesting", package: "Emporium")]),
        // A separate program, because it replaces malloc with one that counts.
        .executableTarget(
            name: "CoderAllocations",
            dependencies: ["CAllocations", "CoderInputs", .product(name: "RecordCoder", package: "Emporium")]
        ),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "BenchHarness",
                "CSync",
                "CoderInputs",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaPostgres", package: "Emporium", condition: .when(traits: ["Postgres"])),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "CodableStoreKit", package: "Emporium"),
                .product(name: "RecordCoder", package: "Emporium"),
                // SQLite's C API, from the same library that the engine is linked with.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.copy("Caches/compiler-files.trace")]
        ),
        .testTarget(name: "BenchHarnessTests", dependencies: ["BenchHarness"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where !["CAllocations", "CSync"].contains(target.name) {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
