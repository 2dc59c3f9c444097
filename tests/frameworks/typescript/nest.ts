// The shop in Nest, on Express.
import "reflect-metadata";
import {
  Body,
  ConflictException,
  Controller,
  Get,
  Module,
  Param,
  Post,
  Res,
  ValidationPipe,
} from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import type { NestExpressApplication } from "@nestjs/platform-express";
import { IsInt, IsString } from "class-validator";
import type { ServerResponse } from "node:http";
import { NotFound, OutOfStock, SkuTaken } from "./shop-errors/exceptions.js";
import { install, refuse } from "./shop-errors/frameworks/nest.js";

class Order {
  @IsString()
  sku!: string;

  @IsInt()
  amount!: number;
}

const valid = new ValidationPipe({ expectedType: Order, exceptionFactory: refuse });

@Controller()
class Shop {
  @Get("items/:item")
  show(@Param("item") item: string): object {
    if (item !== "1") throw new NotFound();
    return { id: item };
  }

  @Post("items")
  create(@Body(valid) order: object): object {
    const { sku } = order as Order;
    if (sku === "few") throw new OutOfStock({ available: 3 });
    return { sku };
  }

  @Get("typed")
  typed(): never {
    throw new SkuTaken();
  }

  @Get("bare")
  bare(): never {
    throw new ConflictException("hunter2");
  }

  @Get("crash")
  crash(): never {
    throw new Error("hunter2");
  }

  @Get("stream")
  async stream(@Res() response: ServerResponse): Promise<void> {
    response.write("begin");
    await new Promise((resolve) => setTimeout(resolve, 50));
    throw new Error("hunter2");
  }

  @Get("slow")
  async slow(): Promise<object> {
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { done: true };
  }
}

@Module({ controllers: [Shop] })
class AppModule {}

export const app = await NestFactory.create<NestExpressApplication>(AppModule, {
  logger: ["error", "warn"],
});
install(app);
app.enableCors({ origin: "http://shop.example" });
app.use((_request: unknown, response: ServerResponse, next: () => void) => {
  response.appendHeader("Set-Cookie", "session=1");
  next();
});
app.useBodyParser("json", { limit: 1000 });

export function serve(port: number): void {
  void app.listen(port, "127.0.0.1");
}
