// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v14)],
    products: [
        .executable(name: "bench", targets: ["Bench"])
    ],
    dependencies: [
        .package(name: "Emporium", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .target(name: "BenchHarness"),
        .target(name: "CSync"),
        .executableTarget(
            name: "Bench",
            dependencies: [
                "BenchHarness",
                "CSync",
                .product(name: "Bodega", package: "Emporium"),
                .product(name: "BodegaTesting", package: "Emporium"),
                .product(name: "Boutique", package: "Emporium"),
                .product(name: "CodableStoreKit", package: "Emporium"),
                .product(name: "RecordCoder", package: "Emporium"),
                // SQLite's C API, the same library that the engine is linked to.
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(name: "BenchHarnessTests", dependencies: ["BenchHarness"]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.name != "CSync" {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
